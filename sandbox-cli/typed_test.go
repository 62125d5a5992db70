package cli_test

import (
	"os"
	"strings"
	"testing"
)

// What is refused is told in the words that were typed: of a flag by the flag,
// of a spec by its key, of neither as what is done then.
func TestRefusedAsTyped(t *testing.T) {
	s := newSandbox(t)
	missing := s.put("missing.toml", "[files]\nwrite = ['"+s.project+"', '"+s.root+"/none']\n")
	address := s.put("address.toml", "[network]\nmode = 'proxied'\nhosts = ['a.example', 'https://b.example/']\n")
	served := s.put("served.toml", "[network]\nmode = 'proxied'\nserve = [53]\n")
	for _, c := range []struct{ dir, args, says string }{
		{s.home, "", `the current folder, which is written where nothing is granted: "` + s.home + `": the home folder itself`},
		{"/", "", `the current folder, which is written where nothing is granted: "/": the whole machine`},
		{s.project, "--write=" + s.root + "/none", "--write: "},
		{s.project, "--write-dot-files=.", "--write-dot-files: \"" + s.project + "\": has to be one of --write too"},
		{s.project, "--read=" + s.root + "/none", "--read: "},
		{s.project, "--internet-host=https://a.example/x", "--internet-host: \"https://a.example/x\": an address"},
		{s.project, "--tcp=a.example", "--tcp: \"a.example\": no port"},
		{s.project, "--serve=53", "--serve: port 53: "},
		{s.project, "--tool=none", "--tool: "},
		{s.project, "--spec=" + missing, "files.write: "},
		{s.project, "--spec=" + missing + " --write=" + s.root + "/none", "files.write: "},
		{s.project, "--spec=" + served + " --write=" + s.root + "/none", "--write: "},
		{s.project, "--spec=" + address, "network.hosts[1]: \"https://b.example/\": an address"},
		{s.project, "--spec=" + address + " --internet-host=https://c.example/", "network.hosts[1]: \"https://b.example/\""},
		{s.project, "--spec=" + served, "network.serve: port 53: "},
	} {
		for command, behind := range map[string]string{"run": "-- true", "why": "a.example", "check": ""} {
			if command == "run" {
				behind = "--yes " + c.args + " " + behind
			} else {
				behind = c.args + " " + behind
			}
			e := s.command("", []string{"sh", "-c", "cd " + c.dir + " && exec " + lnk() + " sandbox " + command + " " + behind})
			if status := map[string]int{"run": 125, "why": 2, "check": 2}[command]; e.status != status || !strings.HasPrefix(e.errors, "lnk sandbox "+command+": "+c.says) || strings.Count(e.errors, "\n") != 1 {
				t.Errorf("%s %s: status %d: %s", command, c.args, e.status, e.errors)
			}
		}
	}
}

// Settings that cannot be kept are told with what to do, by every command.
func TestNoRoomForSettings(t *testing.T) {
	s := newSandbox(t)
	if err := os.WriteFile(s.home+"/.lnk", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"run --yes --write=. -- true", "stop", "pause web", "tool add --ask=none cat -- cat"} {
		e := s.lnk(strings.Fields(args)...)
		if e.status == 0 || !strings.Contains(e.errors, "settings: ") || !strings.HasSuffix(e.errors, ": move what is in the way, or have LNK_HOME name another folder for the settings\n") || strings.Count(e.errors, "\n") != 1 {
			t.Errorf("%s: status %d: %s", args, e.status, e.errors)
		}
	}
}
