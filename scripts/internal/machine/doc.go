// Package machine readies a machine for the tests, and says what it has.
//
// Start with [Install], which installs the programs that the tests call and
// says so, and [NewUser], which gives an ordinary user to run them as. [Facts]
// reads what the judgement of skipped tests needs to know.
//
// It knows Debian and Ubuntu: elsewhere a missing program is an error that
// names it. It never changes a setting of the kernel.
package machine
