// Package tool runs programs of this machine for a program in a sandbox: each
// call of a tool starts the tool outside, once, with the call's words behind
// its own, and carries input, output, errors, signals and the exit status.
//
// Start with [New], which makes the [Host] of one sandbox, and [Host.Tool],
// which is the [http.Handler] that a proxy mounts for one tool; [Host.Opener] is
// the one for web pages. [Host.Close] ends every call.
//
// A call is made in one of three ways, told apart by its Content-Type:
//
//   - In frames (package frame): all of it carried as it comes, and a terminal
//     outside where the caller has one. What lnk-sandbox speaks inside.
//   - As JSON: {"args", "cwd"?, "stdin"?} is answered, once it has ended, by
//     {"status", "signal"?, "stdout", "stderr", "truncated"?}; of output that
//     is not UTF-8 stdout_base64 and stderr_base64 instead.
//   - As any other POST: the words are the query's arg members, in order, the
//     body is standard input, the answer's body standard output as it comes;
//     the trailers Lnk-Status and Lnk-Stderr (its last 4 KiB, percent-encoded)
//     follow. curl is enough.
//
// It promises that nothing from inside is more than the words of one argument
// list, behind the tool's own and put to no shell, and a choice among the
// folders that the sandbox was given: the folder is opened below one of them
// without following a link, and the tool starts in what was opened. The
// environment is a short list of this machine's own. Every call that [route.Tool]
// says is asked about is put to a person first ([Asker]), all its words shown;
// nobody to ask is a refusal. A caller that is gone ends its call, the tool and
// its process group; so does the end of the proxy, also by SIGKILL.
//
// Its limits: a tool does what its words make it do, as the user it runs as.
// Which words are safe to allow is for who adds the tool to know. What a tool
// starts in a session of its own (a daemon) outlives the call.
package tool
