// Package api compares what a module exports with what its last release did.
//
// Start with [NewComparer] and [Comparer.Compare]; a [Report] says what was
// found, and [Report.Err] whether that may be released as the version that the
// changelog has on top. It sees names and types, not what functions do.
package api
