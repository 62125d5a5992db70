// Package release works out what is to be tagged, from what the changelogs say.
//
// Start with [Make], which looks and changes nothing, and [Plan.Do], which tags
// what a plan without problems has. It pushes nothing: tags that others have
// fetched cannot be taken back, so that step is a person's.
package release
