package linuxwall

// Gone gives those of a plan's mount points that a table as
// /proc/<pid>/mountinfo, of a process inside, does not have. There are none
// while all is well.
//
// The kernel takes a mount away when the file that it stands on is removed or
// replaced from outside (umount(2), since Linux 3.18): an editor that saves
// .envrc under a new name and renames it, or git config outside, does so. What
// stood there is then open to the program. Poll mountinfo for POLLPRI
// (proc_pid_mounts(5)): it wakes when the table changes.
func (p *Plan) Gone(mountinfo string) []string {
	mounted := map[string]bool{}
	for _, m := range mounts(mountinfo) {
		mounted[m.Point] = true
	}
	var gone []string
	for _, s := range p.Steps {
		switch s.Verb {
		case MakeFolder, MakeLink, WriteFile, Seal:
		default:
			if !mounted[s.At] {
				gone = append(gone, s.At)
			}
		}
	}
	return gone
}
