// Package traffic publishes what a running proxy has carried, where lnk
// measure, an agent's status and lnk sandbox traffic read it: one file a
// process under the settings folder.
//
// Start with [Publish]; [Sweep] removes what proxies that were killed left. The
// record is written at first, then every second while the counts change, each
// time whole or not at all, and removed by Close. Readers are in
// sandbox-client, which never writes.
//
// Nothing here delays or fails a call: where the folder cannot be written that
// is told once, and tried again as the counts change.
package traffic
