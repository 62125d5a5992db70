// Package folder is the sockets in a folder by which a proxy is reached from
// sandboxes that others start: out.sock (calls out), dns.sock (names) and
// desktop.sock, which the proxy listens on, and in.sock (calls in), which the
// relay inside does.
//
// Start with [Open], which judges the folder, and [Folder.Listen] or
// [Folder.Dial].
//
// A folder is the user's, with mode 0700, or is shared with a group, with mode
// 2770; who may call is who may enter it. The folder is opened once and
// everything in it is found from there: a link, or a folder put in its place
// later, leads nowhere. A socket that is dialled is held by a descriptor first,
// and both its owner and whoever listens on it are asked of the socket itself,
// so that none can be put in its place between the look and the call.
//
// Limits: in a folder that is shared, whoever is of its group can take a socket
// away and put another in its place, which fools those who only go by the name.
// Linux only: elsewhere every function fails with [errors.ErrUnsupported].
package folder
