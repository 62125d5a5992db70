// Package noexec makes everything that a sandbox will be made of unfit to be
// run, but for what is named: in mounts of its own, before bubblewrap, which
// has no option for it and keeps the flags of what it binds. Where bubblewrap
// takes no descriptors, it also shows what is to be bound, as it was looked at,
// at paths that nobody else can change. For root it makes devices read only, which
// bubblewrap shows as they are.
//
// Start with [Orders], which is what is to be done, and [Apply], which does it
// in the mount namespace of the calling process. That namespace has to be its
// own: every mount in it is made noexec. A file on such a mount cannot be
// executed, nor mapped as code (mmap(2), EPERM), so that the dynamic loader
// cannot start it either.
//
// Limits: what is mapped as code without a file, as a just-in-time compiler
// does, is not looked at. A mount that is noexec on this machine stays so,
// whatever is named in it.
package noexec
