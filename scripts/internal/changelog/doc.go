// Package changelog reads a module's CHANGELOG.md, which is where its next
// version is written down: the top heading, "## vX.Y.Z (unreleased)" or with
// the day of the release in place of the word.
//
// Start with [Read]; [Allows] says whether a version may break what an earlier
// one promised.
package changelog
