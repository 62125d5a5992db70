// Package asks puts the calls of tools to a person, and takes the answer.
//
// Start with [New], which makes the [Desk] of one running proxy, and with
// [Pending] and [Answer], by which another process of the user's sees what waits
// and answers it. A question is put on the terminal that the sandbox was started
// on, where there is one, and waits on a socket in the settings folder, which no
// sandbox sees. The first answer holds; none in time is a no.
//
// What it promises of the terminal: while a question stands there, every process
// inside is stopped, what was typed before is thrown away, and what is shown is
// printed behind the last thing that the program printed, with the terminal put
// back into a state that shows it. The answer is a word made for this question,
// so that nothing that was typed, pasted, or said by the terminal itself for
// somebody else can be one. What is not that word is a no.
//
// Its limits: a program can print what looks like a question. Typing an answer
// to that answers nothing.
package asks
