// Package measure is what lnk measure reads of a sandbox: [Traffic], the bytes
// a running sandbox's proxy has carried, and [Tokens], what the answers of a
// model route used.
//
// Start with those two. [RecordName] and [ParseRecordName] are the names of
// the files that running proxies publish their Traffic in, one file a process.
//
// It promises no more than shapes and units: counters only grow while their
// process lives, and start at zero with it. Reading them strictly, and telling
// a running proxy's from one that is gone, is sandbox-client's. It opens no
// file and imports the standard library only.
package measure
