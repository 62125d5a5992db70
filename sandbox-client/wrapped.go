package client

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// Wrapped is what lnk sandbox wrap prints: the command to run instead, and
// what to add to the environment it runs with.
type Wrapped struct {
	_ [0]func()

	// Argv is the command line that runs the program confined.
	Argv []string `json:"argv"`
	// Env is what the caller adds to the environment it chooses. An address
	// of a proxy on loopback with no fixed port holds port 0, which the
	// command itself fills in for its child: it is not an address to call.
	Env map[string]string `json:"env"`
}

// ReadWrapped reads and judges what a wrap printed.
func ReadWrapped(r io.Reader) (Wrapped, error) { return read(r, wrappedShape) }

// WriteWrapped judges what a wrap prints and writes it, its variables sorted.
func WriteWrapped(w io.Writer, v Wrapped) error { return write(w, v) }

// Check judges the values: a first word, names that can be variables, no NUL.
func (v Wrapped) Check() error {
	return form.First(form.At("argv", form.Argv(v.Argv)), form.At("env", checkEnv(v.Env)))
}

// checkEnv judges an environment, in the order of its names.
func checkEnv(env map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return form.At(name, form.Refuse("not the name of a variable"))
		}
		if err := form.Argument(env[name]); err != nil {
			return form.At(name, err)
		}
	}
	return nil
}

func wrappedShape(v *Wrapped) form.Shape {
	return form.Object(
		form.Required("argv", form.Strings(&v.Argv)),
		form.Required("env", form.Map(&v.Env, form.String)),
	)
}
