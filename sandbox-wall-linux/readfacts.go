package linuxwall

import (
	"path"
	"slices"
	"strings"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/procfs"
)

// readFacts reads the facts that a confinement's plan needs. environ is the
// caller's environment, as os.Environ gives it.
//
// What stands in the file system is found out by drawing the plan once on the
// system itself, every answer written down: so [PlanFor], which draws it on
// what was written, asks for nothing that is not there, and both agree on what
// is looked at.
func readFacts(sys *System, c client.Confinement, net NetFrom, by Maker, environ []string) (Facts, error) {
	t, err := gather(sys, c, net, by, environ)
	if err != nil {
		return Facts{}, err
	}
	// What is wrong with the confinement is PlanFor's to say.
	_, _ = draw(c, net, t, []string{"true"})
	return *t.facts, nil
}

// gather reads the facts that do not depend on how the plan is drawn, and gives
// the tree on which those that do are read.
func gather(sys *System, c client.Confinement, net NetFrom, by Maker, environ []string) (*tree, error) {
	f := Facts{
		By:    by,
		UID:   sys.UID,
		Path:  lookupEnv(environ, "PATH"),
		Nodes: map[string]Node{}, Lists: map[string]List{}, Texts: map[string]Text{}, Gitlinks: map[string]Gitlinks{}, Makeable: map[string]bool{}, ReadOnly: map[string]bool{},
		Starts: map[string]Start{}, Programs: map[string]List{}, Answers: map[string]bool{},
	}
	closed := make(chan walked, 1)
	t := &tree{facts: &f, sys: sys}
	if f.UID == 0 {
		may := func(string) bool { return false }
		if by == Kernel && sys.Others != nil {
			named, _ := c.Commands.Only()
			may = shownToOthers(t, c.Write, named)
		}
		go func() { closed <- walkRootOnly(sys, may) }() // the longest part by far
	} else {
		closed <- walked{}
	}
	readHomes(t, &f, environ)
	readDir(t, &f, lookupEnv(environ, "PWD"))
	if err := readWritten(t, &f); err != nil {
		return nil, err
	}

	var program Node
	f.Program, program = sys.Program()
	if f.Program != "" {
		f.Nodes[f.Program] = program
	}
	if by == Bubblewrap {
		f.Bwrap.Path = findBwrap(t, f.Path)
		askBwrap(t, &f.Bwrap, first(f.Settings), plantedIn(t, f.Bwrap.Path, writeFolders(t, c)) == "" && t.plantedEarlier(f.Bwrap.Path) == "")
	}

	f.NoNamespaces = noNamespaces(sys, f.UID)
	if _, restricted := c.Commands.Only(); restricted {
		f.Landlock = sys.Landlock()
	}

	tables, err := sys.SocketTables(net)
	if err != nil {
		return nil, refuse("sockets", "", "this machine's sockets cannot be listed, so they cannot be closed: "+err.Error(), err)
	}
	for _, table := range tables {
		f.Sockets = append(f.Sockets, socketPaths(table)...)
	}
	table, whole := sys.Text("/proc/self/mountinfo", maxTable)
	if !whole {
		return nil, refuse("mounts", "/proc/self/mountinfo", "cannot be read, so other ways to the settings cannot be found", nil)
	}
	f.Mounts = slices.Collect(procfs.Mounts(table))
	if net == Given {
		route, _ := sys.Text("/proc/self/net/route", maxTable)
		// A kernel without IPv6 has no such table.
		route6, _ := sys.Text("/proc/self/net/ipv6_route", maxTable)
		f.Routed = routedDevices(route, route6)
	}
	only := <-closed
	if f.RootOnly, f.Others = only.found, only.others; only.err != nil {
		return nil, refuse("system", "", "what only root may read cannot be found, so it cannot be closed: "+only.err.Error(), only.err)
	}

	if c.DeveloperTools {
		f.toolchains = readToolVariables(t, f.Home, environ)
	}
	return t, nil
}

// walked is what a walk for what only root may read found, and which folders it
// need not look through.
type walked struct {
	found, others []string
	err           error
}

// noNamespaces looks for a setting by which the kernel refuses user namespaces:
// the limit of namespaces(7), for root too, and Debian's switch for ordinary
// users. AppArmor's is told by what bubblewrap says: a profile may allow it.
func noNamespaces(sys *System, uid int) string {
	for _, setting := range []struct {
		name     string
		ordinary bool
	}{{"user.max_user_namespaces", false}, {"kernel.unprivileged_userns_clone", true}} {
		says, whole := sys.Text("/proc/sys/"+strings.ReplaceAll(setting.name, ".", "/"), maxText)
		if whole && strings.TrimSpace(says) == "0" && !(setting.ordinary && uid == 0) {
			return setting.name
		}
	}
	return ""
}

// readHomes fills in the home folder and the settings folders.
func readHomes(t *tree, f *Facts, environ []string) {
	passwd, _ := t.sys.Text(t.resolve("/etc/passwd").real, maxPasswd)
	listed := cleanAbsolute(passwdHome(passwd, f.UID))
	f.Home = cleanAbsolute(lookupEnv(environ, "HOME"))
	if f.Home == "" {
		f.Home = listed
	}
	add := func(dir string) {
		for _, known := range f.Settings {
			if dir == known {
				return
			}
		}
		f.Settings = append(f.Settings, dir)
	}
	if named := cleanAbsolute(lookupEnv(environ, client.HomeVariable)); named != "" {
		add(named)
	}
	for _, home := range []string{f.Home, listed} {
		if home != "" {
			add(join(home, ".lnk"))
		}
	}
}

// readDir fills in the current folder, and the caller's own name for it where
// that leads to the same place (as the shell's pwd -L, POSIX pwd).
func readDir(t *tree, f *Facts, pwd string) {
	f.Dir = t.sys.Dir()
	f.DirShut = f.Dir != "" && !t.sys.Enter(f.Dir)
	if f.Dir == "" || pwd == f.Dir || cleanAbsolute(pwd) != pwd {
		return
	}
	if t.resolve(pwd).real == f.Dir {
		f.PWD = pwd
	}
}

// cleanAbsolute gives a path cleaned, or "" for one that is not absolute or
// that could not stand in a list of paths.
func cleanAbsolute(p string) string {
	if !strings.HasPrefix(p, "/") || strings.ContainsAny(p, "\x00\n") {
		return ""
	}
	return path.Clean(p)
}

// lookupEnv gives the value of a variable, the last one where it stands twice.
func lookupEnv(environ []string, name string) string {
	value := ""
	for _, e := range environ {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
