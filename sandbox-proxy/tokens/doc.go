// Package tokens counts what a model's answers used, from the answers
// themselves as they pass: whole ones and streamed ones, in the forms of
// Anthropic's Messages, OpenAI's Chat Completions, Completions, Responses and
// Embeddings, Google's generateContent and interactions, and of servers that are compatible
// with one of them.
//
// Start with [FormOf], which tells a request for an answer from any other, and
// [Form.Answer], which reads one answer. A [Ledger] sums them up as lnk
// measure reads them.
//
// It promises that it never holds more than a few kilobytes of an answer,
// however large it is or its lines are; that a count does not depend on how
// the answer was cut into pieces; that no usage is taken from what a model
// wrote, only from where the form has it; and that what it counts is
// consistent: cached and written tokens are part of the prompt's.
//
// Its limits: an answer that gives no usage, contradicts itself, is no JSON,
// is compressed in another way than gzip and deflate, or is cut before its
// last word, is counted as unmetered, never guessed, as is a request that was
// sent whole and whose answer nobody waited for. It adds nothing to a
// request, so a stream whose caller did not ask for its usage has none.
package tokens
