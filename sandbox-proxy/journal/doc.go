// Package journal writes down what a proxy decided, a line of JSON a decision,
// for the person whose sandbox it is: log/<sandbox>.jsonl under the settings
// folder.
//
// Start with [Open] and (*Journal).Record, which is a proxy's Config.Ended, to
// write, and with [NewTail] to read. A line is a [Line].
//
// Writing never blocks a call and never fails one: a line waits in a bounded
// queue, and what does not fit, or cannot be written, is counted and said in
// the log once it can be. A file is moved to <name>.1 when it is large, and of
// sandboxes that are gone only the latest files are kept. No line holds a
// call's path, query, headers or body: hosts, ports, addresses and numbers only.
// The wall adds the paths of files that tools outside act on and a program
// changed ([Changed]).
package journal
