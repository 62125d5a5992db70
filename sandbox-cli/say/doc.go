// Package say is the one place that prints to people, and the statuses that our
// processes end with. Start with [Complain] and [Refuse].
//
// Its rules:
//   - one line a fact, prefixed "lnk sandbox <command>: ", lower case, no full stop;
//   - what to do about it stands behind a semicolon, or on a line of its own that starts with "hint: ";
//   - standard output carries answers (JSON, a plan, a table), standard error everything else;
//   - text from outside (names, paths, a program's words) is shown with its control bytes escaped.
package say
