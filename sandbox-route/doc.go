// Package route is what a sandbox's routes are: the ways out beside the
// network that its proxy mounts, each served by a bridge outside the wall.
//
// Start with [Route] and [CheckRoutes]. A Route is read and written by any
// JSON package, strictly; [Mounts] is what a proxy is handed of them. What a
// program's environment may hold is decided here too, since routes set
// variables: see [RefusedVariable] and [KeptByRun].
//
// It promises that what it reads it writes the same, that refusals name the
// member as a JSON pointer and wrap [form.ErrRequest], and that none of them
// repeats a secret's value. It judges text: it opens no file and follows no
// link, but through what [Beside] is given. Whether a host of a route is in
// its normal form is the proxy's to judge, as for every host.
//
// The member "secret" of a route's JSON means two things: see [Route].
package route
