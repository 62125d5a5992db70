// Package probes is the home of the probes of "lnk sandbox check": small
// attempts, made from inside a sandbox, to do what its confinement closes, and
// what each attempt shows.
//
// It holds nothing yet: no attempt is made from here, and nothing that is
// reported about a sandbox comes from here. What the wall and the proxy close
// is shown by their own modules' tests.
//
// What it will hold:
//
//   - the probes, each with the part of the confinement that it tries, the
//     attempt itself, and what success would look like;
//   - the judgement of an attempt against the confinement: blocked, allowed,
//     failed, open, missed or leaked;
//   - a run of every probe with no wall at all, where each must say that it
//     got through: a probe that cannot see an open door is worth nothing.
//
// It will import sandbox-client, for what a confinement is, and nothing else
// of ours: a probe that shares code with the wall it tries shares its mistakes.
package probes
