package linuxwall

import (
	"path"
	"strings"
)

// resolvConf names the resolver: the proxy's, where there is one. Programs ask
// it on loopback, and no query leaves the namespace whatever they ask. ndots:1
// (the default, resolv.conf(5)) keeps a name with a dot from being tried with
// the machine's search domains first.
const resolvConf = "nameserver 127.0.0.1\noptions ndots:1\n"

// hosts has no name of this machine's network.
const hosts = "127.0.0.1 localhost " + HostName + "\n::1 localhost ip6-localhost ip6-loopback " + HostName + "\n"

// nameFiles puts the sandbox's own files for names over this machine's.
func (d *draft) nameFiles() {
	because := Reason{Member: "view", Text: "names resolve inside"}
	if d.net == Machine {
		d.machineNames(because)
	} else {
		d.tell("/etc/resolv.conf", resolvConf, because)
		d.tell("/etc/hosts", hosts, because)
	}
	if d.f.UID != 0 || d.othersFolder("/etc/ssh") != "" {
		d.sshConfig()
	}
}

// machineNames gives the program copies of this machine's files for names: what
// /etc/resolv.conf leads to is not in view as a rule, and the program's own
// host name is in no file of this machine. One that is too long stays as it is
// in view.
func (d *draft) machineNames(because Reason) {
	if text, whole := d.t.text(d.t.resolve("/etc/resolv.conf").real); whole {
		d.tell("/etc/resolv.conf", text, because)
	}
	if text, whole := d.t.text(d.t.resolve("/etc/hosts").real); whole {
		d.tell("/etc/hosts", strings.TrimSuffix(text, "\n")+"\n127.0.0.1 "+HostName+"\n", because)
	}
}

// tell puts a text at a path inside: over the file that it leads to, be that a
// link or not, or where a link leads that nothing is behind, if that is in a
// file system of the sandbox's own. Where nothing can be put nothing is there:
// without a resolv.conf programs ask loopback anyway (resolv.conf(5)).
func (d *draft) tell(at, text string, because Reason) {
	v := viewOf(d.plan.Steps)
	p, err := v.locate(at, d.t.node)
	if err != nil {
		return
	}
	step := Step{Verb: Tell, At: p.Path, Perm: 0o444, Text: text, Because: because}
	switch {
	case p.Host != "" && p.Node.Kind == File:
	case p.Host == "" && p.Access == Absent && v.endsSealed(p.Path):
		step.Verb = WriteFile
	default:
		return
	}
	d.plan.Steps = append(d.plan.Steps, step)
}

// endsSealed says whether a path that is not there can be made in a file
// system of the sandbox's own that no program can write later: every folder
// on the way must be one that bubblewrap makes.
func (v *view) endsSealed(path string) bool {
	s := v.deciding(path)
	return s.Verb == Empty && (s.At == "/" || s.At == "/run")
}

// Limits of reading ssh's configuration.
const (
	maxSSHFiles = 32
	maxSSHDepth = 4
)

// sshConfig gives the program copies of the files that ssh's configuration
// includes. ssh refuses an included file that is neither root's nor the
// user's (ssh_config(5)), and where only the user is mapped, or what is there is
// shown as others see it, root's files show as nobody's.
func (d *draft) sshConfig() {
	because := Reason{Member: "view", Text: "ssh wants it to be the user's or root's"}
	done := map[string]bool{}
	for _, at := range d.sshIncludes("/etc/ssh/ssh_config", 0) {
		r := d.t.resolve(at)
		if r.node.Kind != File || r.node.UID != 0 || done[r.real] {
			continue
		}
		if d.f.UID == 0 && d.othersFolder(r.real) == "" {
			continue // root's own there
		}
		text, whole := d.t.text(r.real)
		if !whole {
			continue
		}
		done[r.real] = true
		d.tell(at, text, because)
	}
}

// sshIncludes gives the files that a configuration includes, and those that
// they do. Only a folder's own files are matched: "*.conf", no deeper pattern.
func (d *draft) sshIncludes(at string, depth int) []string {
	r := d.t.resolve(at)
	if depth == maxSSHDepth || r.node.Kind != File {
		return nil
	}
	text, _ := d.t.text(r.real)
	var found []string
	for line := range strings.Lines(text) {
		words := strings.Fields(strings.Replace(line, "=", " ", 1))
		if len(words) < 2 || !strings.EqualFold(words[0], "include") {
			continue
		}
		for _, pattern := range words[1:] {
			for _, file := range d.glob(strings.Trim(pattern, `"`)) {
				if len(found) == maxSSHFiles {
					return found
				}
				found = append(found, file)
				found = append(found, d.sshIncludes(file, depth+1)...)
			}
		}
	}
	return found
}

// glob gives the files that a pattern of ssh's matches; one that is not
// absolute lies in /etc/ssh.
func (d *draft) glob(pattern string) []string {
	if strings.HasPrefix(pattern, "~") {
		return nil // the user's own, and not for the system's file (ssh_config(5))
	}
	if !strings.HasPrefix(pattern, "/") {
		pattern = "/etc/ssh/" + pattern
	}
	pattern = cleanAbsolute(pattern)
	dir, last := parent(pattern), base(pattern)
	if strings.ContainsAny(dir, `*?[\`) || pattern == "" {
		return nil
	}
	if !strings.ContainsAny(last, `*?[\`) {
		return []string{pattern}
	}
	r := d.t.resolve(dir)
	if r.node.Kind != Folder {
		return nil
	}
	names, _ := d.t.names(r.real)
	var found []string
	for _, name := range names {
		if ok, err := path.Match(last, name); ok && err == nil && !strings.HasPrefix(name, ".") {
			found = append(found, join(dir, name))
		}
	}
	return found
}
