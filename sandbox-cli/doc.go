// Package cli is the command line of lnk sandbox: it reads what people and
// programs ask for, plans it with the modules that know how, and prints what
// came of it. Nothing else in the repository prints to people.
//
// Start with [Main], which runs one command, and with chain.go, which turns a
// confinement and an argv into the command that runs it confined. Commands that
// people type are built with cobra; the stages that a start passes through
// (proxy, proxy-inside, wall, inside, sweep) are dispatched before it, since
// each of them is paid for at every start.
//
// The package decides nothing about what a program may touch: the wall and the
// proxy's judge do.
package cli
