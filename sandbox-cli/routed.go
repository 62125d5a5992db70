package cli

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
)

// routed is what the proxy stage is told of routes. They hold secrets: its
// argv names the files that they are in, or the variable that names the
// descriptor of the pipe that they come on, and never both.
type routed struct {
	routesIn    string // the file with the routes and their caller
	urlSecretIn string // the file with the URL secret
	handedBy    string // the variable that names the pipe's descriptor
	mounts      route.Mounts
}

// handedVariable names the descriptor of the pipe that `run` hands routes on.
const handedVariable = "LNK_SANDBOX_ROUTES"

// route reads the routes of a confinement's proxy; what it leaves out of
// caller and secret is made.
func (r *routed) route(name string, p client.Proxy, s setting) {
	if len(p.Routes) == 0 {
		return
	}
	text := s.secret
	if text == nil {
		text = rand.Text
	}
	r.mounts = route.Mounts{Routes: p.Routes, URLSecret: p.Secret}
	if p.Caller != nil {
		r.mounts.Caller = *p.Caller
	} else {
		r.mounts.Caller = route.Caller{Sandbox: name, Key: text()}
	}
	under := slices.ContainsFunc(p.Routes, route.Route.UnderSecret)
	if r.mounts.URLSecret == "" && under && !s.hand && s.kept != nil {
		r.mounts.URLSecret = s.kept(name)
	}
	if r.mounts.URLSecret == "" && under {
		r.mounts.URLSecret = text()
	}
	if s.hand {
		r.handedBy = handedVariable
		return
	}
	settings := client.SettingsFolder(s.dir).Sandbox()
	r.routesIn = filepath.Join(settings, name+".routes.json")
	if r.mounts.URLSecret != "" {
		r.urlSecretIn = filepath.Join(settings, name+".url-secret")
	}
}

// variables are the routes' addresses, on the proxy at base.
func (r routed) variables(base string) map[string]string {
	env := map[string]string{}
	for _, one := range r.mounts.Routes {
		for _, name := range one.Variables() {
			env[name] = base + strings.TrimSuffix(one.Path(r.mounts.URLSecret), "/")
		}
	}
	return env
}

// files is what the argv names and must not hold.
func (r routed) files() map[string]string {
	files := map[string]string{}
	if r.routesIn == "" {
		return files
	}
	var b bytes.Buffer
	route.WriteMounts(&b, route.Mounts{Routes: r.mounts.Routes, Caller: r.mounts.Caller}) // judged with the confinement
	files[r.routesIn] = b.String()
	if r.urlSecretIn != "" {
		files[r.urlSecretIn] = r.mounts.URLSecret + "\n"
	}
	return files
}

// handed is what goes on the pipe.
func (r routed) handed() route.Mounts {
	if r.handedBy == "" {
		return route.Mounts{}
	}
	return r.mounts
}

func (r routed) args() []string {
	var a []string
	for _, f := range []struct{ flag, value string }{
		{"--routes", r.routesIn}, {"--url-secret", r.urlSecretIn}, {"--routes-handed", r.handedBy},
	} {
		if f.value != "" {
			a = append(a, f.flag, f.value)
		}
	}
	return a
}

func (r *routed) flags(set *pflag.FlagSet) {
	set.StringVar(&r.routesIn, "routes", "", "the file that holds the routes and their caller")
	set.StringVar(&r.urlSecretIn, "url-secret", "", "the file that holds the URL secret")
	set.StringVar(&r.handedBy, "routes-handed", "", "the variable that names the descriptor that routes come on")
}

// maxURLSecret bounds the file that holds a URL secret, in bytes.
const maxURLSecret = 128

// take reads the routes where the flags say they are, and gives the
// environment without the variable that named them.
func (r *routed) take(env []string) ([]string, error) {
	switch {
	case r.handedBy != "" && (r.routesIn != "" || r.urlSecretIn != ""):
		return env, errors.New("--routes-handed beside --routes or --url-secret: want one of them")
	case r.urlSecretIn != "" && r.routesIn == "":
		return env, errors.New("--url-secret without --routes: there is nothing under it")
	case r.handedBy != "":
		env = slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, r.handedBy+"=") })
		return env, r.readHanded()
	case r.routesIn != "":
		return env, r.readFiles()
	}
	return env, nil
}

func (r *routed) readFiles() error {
	f, err := os.Open(r.routesIn)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--routes: %s: not there any more: have it wrapped again", r.routesIn)
	}
	if err != nil {
		return fmt.Errorf("--routes: %w", err)
	}
	defer f.Close()
	if r.mounts, err = route.ReadMounts(f); err != nil {
		return fmt.Errorf("--routes: %w", err)
	}
	if r.urlSecretIn == "" {
		return nil
	}
	s, err := os.Open(r.urlSecretIn)
	if err != nil {
		return fmt.Errorf("--url-secret: %w", err)
	}
	defer s.Close()
	text, err := io.ReadAll(io.LimitReader(s, maxURLSecret))
	if err != nil {
		return fmt.Errorf("--url-secret: %w", err)
	}
	r.mounts.URLSecret = strings.TrimSpace(string(text))
	if err := r.mounts.Check(); err != nil {
		return fmt.Errorf("--url-secret: %w", err)
	}
	return nil
}

// readHanded reads what comes on the pipe to its end.
func (r *routed) readHanded() error {
	said, there := os.LookupEnv(r.handedBy)
	os.Unsetenv(r.handedBy)
	fd, err := strconv.Atoi(said)
	if !there || err != nil || fd < 3 {
		return fmt.Errorf("--routes-handed: %s: want the number of a pipe's descriptor there", r.handedBy)
	}
	f := os.NewFile(uintptr(fd), "routes")
	if f == nil {
		return fmt.Errorf("--routes-handed: %s: not a descriptor", r.handedBy)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return fmt.Errorf("--routes-handed: %s: not a pipe", r.handedBy)
	}
	if r.mounts, err = route.ReadMounts(f); err != nil {
		return fmt.Errorf("--routes-handed: %w", err)
	}
	return nil
}

// handOver has the pipe ready that the proxy, this process, reads its routes
// from.
func (c chain) handOver() error {
	if len(c.hand.Routes) == 0 {
		return nil
	}
	read, write, err := os.Pipe()
	if err != nil {
		return setupFailed(err)
	}
	// The reader owns the descriptor: a File of ours would close it when it is
	// collected.
	fd, err := keep(read)
	if err != nil {
		write.Close()
		return setupFailed(err)
	}
	os.Setenv(handedVariable, strconv.Itoa(fd))
	go func() {
		defer write.Close()
		route.WriteMounts(write, c.hand)
	}()
	return nil
}

// keep gives a descriptor of its own for what f reads, and closes f.
func keep(f *os.File) (int, error) {
	defer f.Close()
	fd, err := dupCloseOnExec(int(f.Fd()))
	if err != nil {
		return 0, fmt.Errorf("a descriptor: %w", err)
	}
	return fd, nil
}
