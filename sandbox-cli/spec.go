package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// byteOrderMark is what some editors put in front of UTF-8.
var byteOrderMark = []byte("\xef\xbb\xbf")

func specOf(text []byte, isJSON bool) (client.Spec, error) {
	text = bytes.TrimPrefix(text, byteOrderMark)
	if isJSON {
		if unlikeJSON(text) {
			return client.Spec{}, errors.New("not JSON: a spec of TOML is in a file whose name does not end in .json; JSON has no comments")
		}
		return client.ReadSpecJSON(bytes.NewReader(text))
	}
	if bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text) {
		return client.Spec{}, errors.New("not UTF-8 text: save it as UTF-8")
	}
	tree := map[string]any{}
	if err := toml.Unmarshal(text, &tree); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
				return client.Spec{}, errors.New("not TOML: a spec of JSON is in a file whose name ends in .json")
			}
			line, column := at.Position()
			return client.Spec{}, fmt.Errorf("line %d, column %d: not TOML: %s", line, column, strings.TrimPrefix(err.Error(), "toml: "))
		}
		return client.Spec{}, err
	}
	return client.SpecFromTree(tree)
}

// unlikeJSON is whether a text begins with a table, a key or a comment, as TOML does.
func unlikeJSON(text []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	key := bytes.HasPrefix(line, []byte("[")) || !bytes.ContainsAny(line[:min(1, len(line))], `{"`) && bytes.ContainsRune(line, '=')
	return bytes.HasPrefix(line, []byte("#")) || bytes.HasPrefix(line, []byte("//")) || bytes.HasPrefix(line, []byte("/*")) ||
		key && toml.Unmarshal(text, &map[string]any{}) == nil
}

// confinementOf makes the confinement that the flags ask for: the spec's, and
// the grants over it. Without either the current folder is written and there
// is no network.
func confinementOf(f runFlags, set setting, terminal bool) (client.Confinement, error) {
	cwd, err := os.Getwd()
	if errors.Is(err, fs.ErrPermission) {
		return client.Confinement{}, fmt.Errorf("the current folder is not yours to be in: %w: go to another", err)
	}
	if err != nil {
		return client.Confinement{}, fmt.Errorf("the current folder is not there anymore: %w: go to another", err)
	}
	spec, folder, file := client.Spec{}, cwd, ""
	if f.spec.given() {
		if spec, err = f.spec.read(); err != nil {
			return client.Confinement{}, withStatus(statusRefused, err)
		}
		if folder, file, err = f.spec.lies(cwd); err != nil {
			return client.Confinement{}, err
		}
	}
	ports, err := portsOf("--port", f.ports)
	serve, serveErr := portsOf("--serve", f.serve)
	models, modelErr := portsOf("--local-model", f.models)
	if err := errors.Join(err, serveErr, modelErr); err != nil {
		return client.Confinement{}, withStatus(statusRefused, err)
	}
	for flag, paths := range map[string][]string{"write": f.write, "read": f.read, "hide": f.hide, "write-dot-files": f.dotFiles} {
		for _, path := range paths {
			if _, err := os.Lstat(path); err != nil && strings.HasPrefix(path, "-") {
				return client.Confinement{}, refuse("--%s: %q: another flag, or the end of them: want a path behind --%s", flag, path, flag)
			}
		}
	}
	for flag, hosts := range map[string][]string{"internet-host": f.hosts, "tcp": f.tcp} {
		for _, host := range hosts {
			if strings.HasPrefix(host, "-") { // as no host's name starts
				return client.Confinement{}, refuse("--%s: %q: another flag, or the end of them: want a host behind --%s", flag, host, flag)
			}
		}
	}
	spec.Name = runName(spec.Name)
	if !f.spec.given() {
		spec.Program.Terminal = true
	}
	spec.Program.Terminal = spec.Program.Terminal && f.terminal && terminal
	specAlone := spec // grant adds to its lists, and changes none
	f.grant(&spec, cwd, ports, serve, models)
	if len(f.only) > 0 {
		paths, err := f.programs(&spec, cwd)
		if err != nil {
			return client.Confinement{}, err
		}
		only := client.OnlyCommands(paths...)
		spec.Program.Commands = &only
	}
	base, err := set.base(folder, spec.Name)
	if err != nil {
		return client.Confinement{}, err
	}
	c, err := client.Of(spec, base)
	if err != nil {
		var alone error
		if f.spec.given() {
			_, alone = client.Of(specAlone, base)
		}
		return c, f.asTyped(err, alone)
	}
	if file == "" {
		return c, nil
	}
	return keepSpec(c, file)
}

// keepSpec keeps a spec's own file from the program that it is for: what one run
// wrote into it, the next would open. A spec that is reached through a link in
// what is written is refused when the wall looks at it.
func keepSpec(c client.Confinement, spec string) (client.Confinement, error) {
	path, err := filepath.Abs(spec)
	if err != nil {
		return c, err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return c, fmt.Errorf("--spec: %w", err)
	}
	for _, w := range c.Write {
		if folder, err := filepath.EvalSymlinks(w); err == nil && (within(real, folder) || within(path, w)) {
			c.Read = append(c.Read, path)
			break
		}
	}
	return c, nil
}

// within says whether path is folder or below it; both are clean.
func within(path, folder string) bool {
	rest, ok := strings.CutPrefix(path, folder)
	return ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(folder, "/"))
}

// runName is what a run's sandbox is called: run-<pid>, behind the spec's name
// where it has one.
func runName(spec string) string {
	name := fmt.Sprintf("run-%d", os.Getpid())
	if spec != "" {
		name = spec + "-" + name
	}
	return name
}

// askedFor says what to ask a command for instead of a spec's name: its runs, of
// those names, or "" where there is none.
func askedFor(command, spec string, names []string) string {
	runs := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		pid, is := strings.CutPrefix(name, spec+"-run-")
		_, err := strconv.ParseUint(pid, 10, 32)
		return !is || err != nil
	})
	slices.Sort(runs)
	runs = slices.Compact(runs)
	switch n := len(runs); {
	case n == 0:
		return ""
	case n > maxAskedFor:
		return fmt.Sprintf("; its runs are called %s-run-<process>: there are %d", spec, n)
	}
	for i, run := range runs {
		runs[i] = "lnk sandbox " + command + " " + run
	}
	return "; of its runs: " + strings.Join(runs, ", or ")
}

// maxAskedFor is how many runs are listed.
const maxAskedFor = 3

// grant adds what the flags open to a spec. Their paths are relative to the
// current folder, whatever folder the spec lies in.
func (f runFlags) grant(spec *client.Spec, cwd string, ports, serve, models []uint16) {
	absolute := func(paths []string) []string {
		var out []string
		for _, p := range paths {
			// An empty one, as of a variable that is not set, is no name of the
			// current folder: it is refused like a spec's.
			if p != "" && !filepath.IsAbs(p) && p != "~" && !strings.HasPrefix(p, "~/") {
				p = filepath.Join(cwd, p)
			}
			out = append(out, p)
		}
		return out
	}
	files, network := &spec.Files, &spec.Network
	files.Write = append(files.Write, absolute(f.write)...)
	files.WriteDotFiles = append(files.WriteDotFiles, absolute(f.dotFiles)...)
	files.Read = append(files.Read, absolute(f.read)...)
	files.Hide = append(files.Hide, absolute(f.hide)...)
	files.ReadHome = files.ReadHome || f.readHome
	spec.Program.DeveloperTools = spec.Program.DeveloperTools || f.tools
	if f.usual() {
		files.Write = []string{cwd}
	}
	if len(f.hosts)+len(f.tcp)+len(ports)+len(serve)+len(models)+len(f.named) == 0 && !f.lan && !f.open && !f.learn {
		return
	}
	if network.Mode == "" || network.Mode == "closed" {
		network.Mode = "proxied"
		network.Hosts = []string{}
	}
	if network.Hosts != nil || !f.spec.given() {
		network.Hosts = append(network.Hosts, f.hosts...)
	}
	network.TCP = append(network.TCP, f.tcp...)
	network.LAN = network.LAN || f.lan
	network.Ports = append(network.Ports, ports...)
	network.Serve = append(network.Serve, serve...)
	network.LocalModels = append(network.LocalModels, models...)
	network.Open = network.Open || f.open
	for _, name := range f.named {
		if !slices.Contains(network.Tools, name) {
			network.Tools = append(network.Tools, name)
		}
	}
}

// any says whether a flag grants something. To hide is to grant nothing.
func (f runFlags) any() bool {
	return len(f.write)+len(f.dotFiles)+len(f.read)+len(f.hosts)+len(f.tcp)+len(f.ports)+len(f.serve)+len(f.models)+len(f.secrets)+len(f.modelFlags.of) > 0 || f.lan || f.readHome
}
