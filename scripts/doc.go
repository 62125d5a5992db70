// Package scripts stands for the programs that build, check, measure and
// release this repository. The files beside it that can be run (test, build,
// check-alone, check-api, release, bench) are a few lines of shell each: they
// find Go, build the program of the same name in cmd, and become it.
//
// The module needs nothing but the standard library and is built with no
// workspace, so that it runs on a tree whose other modules do not build, and
// says what is wrong with them. The tools it calls (a linter, a comparer of
// exported interfaces) are pinned in the module in tools, outside the
// workspace, so that their dependencies never choose a version for ours.
//
// Nothing here is released, and nothing of ours imports it.
package scripts
