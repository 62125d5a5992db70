package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// secretFlags are how a person gives a secret to a run.
type secretFlags struct {
	withFD  descriptor // what RunWith is read from
	secrets []string   // <name>=<host>:<header>[:<template>], or <name>=<host>:?<member>
	paths   []string   // <name>=<path>
	from    []string   // <name>=env:<variable>, file:<path> or command:<words>
}

func (f *secretFlags) flags(fl *pflag.FlagSet) {
	fl.StringArrayVar(&f.secrets, "secret", nil, "a `secret` that is added outside: <name>=<host>:<header>[:<template>], or <name>=<host>:?<member> for a member of the query")
	fl.StringArrayVar(&f.paths, "secret-path", nil, "a `path` that may be called with it, and no other may then: <name>=<path>; one that ends in a slash is all under it")
	fl.StringArrayVar(&f.from, "secret-from", nil, "where its value is, a `place`: <name>=env:<variable>, file:<path> or command:<words>")
	fl.Var(&f.withFD, "with-fd", "a `descriptor` to read {\"env\", \"secrets\", \"serve\", \"write\"} from")
}

// A descriptor is one that this process was started with, behind the standard
// streams; zero is none.
type descriptor int

func (d *descriptor) String() string { return "" }
func (d *descriptor) Type() string   { return "descriptor" }

// Set takes the number. What is no descriptor is not the same as no flag, and of
// two the first would be passed over.
func (d *descriptor) Set(number string) error {
	n, err := strconv.Atoi(number)
	switch {
	case err != nil:
		return errors.New("want a whole number")
	case *d != 0:
		return fmt.Errorf("%d was named before: one says all", *d)
	case n < 3:
		return errors.New("want a descriptor of its own, 3 or more")
	}
	*d = descriptor(n)
	return nil
}

// secretsOfFlags reads the secrets of --secret. The program gets <NAME> with the
// placeholder and <NAME>_URL with the route's address.
func (f secretFlags) secretsOfFlags() ([]givenSecret, error) {
	from := map[string]string{}
	for _, entry := range f.from {
		name, where, ok := strings.Cut(entry, "=")
		if _, twice := from[name]; !ok || twice {
			return nil, refuse("--secret-from %s: want <name>=env:<variable>, file:<path> or command:<words>, once a name", form.Quote(name))
		}
		from[name] = where
	}
	for name := range from {
		if !slices.ContainsFunc(f.secrets, func(entry string) bool { return strings.HasPrefix(entry, name+"=") }) {
			return nil, refuse("--secret-from %s: no --secret has this name", form.Quote(name))
		}
	}
	paths := map[string][]string{}
	for _, entry := range f.paths {
		name, path, ok := strings.Cut(entry, "=")
		if !ok || !strings.HasPrefix(path, "/") {
			return nil, refuse("--secret-path %s: want <name>=<path>, a path as it stands behind the host: /v1/ is all under it", form.Quote(entry))
		}
		if !slices.ContainsFunc(f.secrets, func(entry string) bool { return strings.HasPrefix(entry, name+"=") }) {
			return nil, refuse("--secret-path %s: no --secret has this name", form.Quote(name))
		}
		paths[name] = append(paths[name], path)
	}
	var all []givenSecret
	for _, entry := range f.secrets {
		name, s, err := parseSecret(entry)
		if err != nil {
			return nil, refuse("--secret %v", err)
		}
		s.Secret.Secret.Paths = paths[name]
		where, given := from[name]
		if !given {
			where = "env:" + name
		}
		if s.Secret.Secret.Value, err = valueFrom(where); err != nil {
			if !given {
				err = fmt.Errorf("%w: set it, or say where the secret is: --secret-from %s=env:<variable>, file:<path> or command:<words>", err, name)
			}
			return nil, refuse("the secret %s: %v", name, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// parseSecret reads <name>=<host>[:<port>]:<header>[:<template>], and
// <name>=<host>[:<port>]:?<member>.
func parseSecret(entry string) (name string, s givenSecret, err error) {
	name, rest, ok := strings.Cut(entry, "=")
	if err := form.Name(name); !ok || err != nil {
		return name, s, fmt.Errorf("%s: want <name>=<host>:<header>[:<template>]", form.Quote(entry))
	}
	if at := strings.Index(rest, "://"); at >= 0 && !strings.ContainsAny(rest[:at], ":{") {
		return name, s, fmt.Errorf("%s: a host stands without a scheme: %s", form.Quote(entry), form.Quote(name+"="+rest[at+3:]))
	}
	host, rest := hostOf(rest)
	port, behind, _ := strings.Cut(rest, ":")
	if _, err := strconv.ParseUint(port, 10, 16); err == nil {
		host, rest = host+":"+port, behind
	}
	if member, is := strings.CutPrefix(rest, "?"); is && host != "" {
		if err := form.Token(member); err != nil {
			return name, s, fmt.Errorf("%s: want the name of one member of the query behind the ?, and nothing behind that", form.Quote(entry))
		}
		return name, givenSecret{Secret: client.Secret{
			Secret: route.Secret{Host: host, Query: member}, URL: variableOf(name) + "_URL", Placeholder: variableOf(name),
		}}, nil
	}
	header, template, templated := strings.Cut(rest, ":")
	if host == "" || header == "" {
		return name, s, fmt.Errorf("%s: want <name>=<host>:<header>[:<template>], or <name>=<host>:?<member>", form.Quote(entry))
	}
	if templated && strings.Count(template, "{}") != 1 {
		return name, s, fmt.Errorf("%s: a template holds {} once, where the secret stands: Bearer {}", form.Quote(entry))
	}
	variable := variableOf(name)
	return name, givenSecret{
		Secret: client.Secret{
			Secret: route.Secret{Host: host, Header: header}, URL: variable + "_URL", Placeholder: variable,
			Git: strings.EqualFold(header, "authorization") && templated,
		},
		template: template,
	}, nil
}

// variableOf is the variable that a secret's placeholder is in.
func variableOf(name string) string {
	return strings.TrimPrefix(route.ToolVariable(name), "LNK_TOOL_")
}

// hostOf takes the host from the front: an IPv6 address stands in brackets.
func hostOf(s string) (host, rest string) {
	if strings.HasPrefix(s, "[") {
		if end := strings.Index(s, "]:"); end > 0 {
			return s[:end+1], s[end+2:]
		}
	}
	host, rest, _ = strings.Cut(s, ":")
	return host, rest
}

const (
	// maxValue bounds a secret's value, in bytes.
	maxValue = 16 << 10
	// leastValue is the least that is found in what comes back from a host
	// without finding other text too.
	leastValue = 8
	// commandTime bounds a command that prints a secret: it may ask a person.
	commandTime = 2 * time.Minute
)

// valueFrom gets a secret's value; its last line end is none of it. No error
// holds it.
func valueFrom(where string) (string, error) {
	kind, what, _ := strings.Cut(where, ":")
	if what == "" {
		kind = ""
	}
	var text string
	var err error
	switch kind {
	case "env":
		var there bool
		if text, there = os.LookupEnv(what); !there {
			err = fmt.Errorf("the variable %s is not set", form.Quote(what))
		}
	case "file":
		text, err = fileText(atHome(what))
	case "command":
		text, err = commandText(what)
	default:
		return "", errors.New("want env:<variable>, file:<path> or command:<words>")
	}
	if err != nil {
		return "", err
	}
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	if err := form.HeaderValue(text); err != nil {
		return "", errors.New("its value is not one: want printable ASCII with no space at either end")
	}
	if len(text) < leastValue {
		return "", fmt.Errorf("its value is shorter than %d characters: too short to be told from other text", leastValue)
	}
	return text, nil
}

func fileText(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	return bounded(file)
}

func bounded(r io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxValue+1))
	if err != nil {
		return "", err
	}
	if len(b) > maxValue {
		return "", errors.New("its value is longer than 16 KiB")
	}
	return string(b), nil
}

// commandText runs a command by the shell, outside, and gives what it prints.
// What it says on standard error is for the person.
func commandText(words string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", words)
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, &atMost{&out, maxValue + 1}, os.Stderr
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("the command that prints it: %w", err)
	}
	return bounded(&out)
}

// atMost keeps the first bytes and drops the rest.
type atMost struct {
	b    *bytes.Buffer
	left int
}

func (a *atMost) Write(p []byte) (int, error) {
	n := min(len(p), a.left)
	a.left -= n
	a.b.Write(p[:n])
	return len(p), nil
}
