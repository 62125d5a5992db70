// Package stages are the steps of a start that come behind the proxy: the
// network that the program is in (proxy-inside), the wall around it (wall), both
// at once (handed), what runs just before the program (inside), and what cleans
// up after a wall that was killed (sweep). Start with [Main] and [Wall].
//
// They are a package of their own so that a program which holds nothing else
// can run them: every start pays for what a binary has to set up before main.
// It must stay free of what is slow to start: no http, no TLS, no commands.
package stages
