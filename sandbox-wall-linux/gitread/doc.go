// Package gitread reads two files of a git repository without git, which runs
// what they say: the configuration and the index.
//
// Start with [Config], which gives the values of a configuration file, and
// [Gitlinks], which gives the submodules of an index; [Strays] gives the names in
// one by which git would write where it must not. [Entry.Names] says which
// files a value names, for git to run or to be led by.
//
// What it promises: both files may be anybody's. Nothing of them is run,
// nothing is opened, and what is read is bounded by what is given.
//
// Limits: a value is not run, so that what a shell command composes (variables,
// cd) is not known; [Entry.Names] says so where it sees that.
package gitread
