package client

import (
	"github.com/go-json-experiment/json"

	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// Commands says what may be executed: anything, or only what is named. The
// zero value is neither and is refused. Its JSON is "any" or {"only": [<path>]}.
type Commands struct {
	any bool
	// Paths are what may be executed, unless it is [AnyCommand]: files, and
	// folders whose files may be. Absolute and clean in a [Confinement]; in a
	// [Spec] also relative to its own folder, or under ~/.
	Paths []string `json:"-" toml:"only"`
}

// AnyCommand lets every program in view be executed.
func AnyCommand() Commands { return Commands{any: true} }

// OnlyCommands lets the files named, and the files in the folders named, be executed.
func OnlyCommands(paths ...string) Commands { return Commands{Paths: append([]string{}, paths...)} }

// Only gives the paths that may be executed; restricted is false when
// anything may. The zero value is restricted to nothing.
func (c Commands) Only() (paths []string, restricted bool) { return c.Paths, !c.any }

// Check judges the values, with the paths a confinement has.
func (c Commands) Check() error { return c.check(form.Path) }

func (c Commands) check(path func(string) error) error {
	switch {
	case c.any && c.Paths != nil:
		return form.Refuse(`both any and only, want one`)
	case c.any:
		return nil
	case c.Paths == nil:
		return form.Refuse(`neither "any" nor {"only": […]}, want one`)
	case len(c.Paths) == 0:
		return form.At("only", form.Refuse("empty, so nothing could be started: name at least the program"))
	}
	return form.At("only", form.Each(c.Paths, path))
}

func commandsShape(c *Commands) form.Shape {
	return func(d *form.Decoder) {
		switch d.Peek() {
		case form.IsString:
			var word string
			form.String(&word)(d)
			if !d.Failed() && word != "any" {
				d.Refuse(form.Quote(word) + `: not "any" or {"only": […]}`)
			}
			c.any = true
		case form.IsObject:
			form.Object(form.Required("only", form.Paths(&c.Paths)))(d)
		default:
			d.Refuse(`want "any" or {"only": […]}, got ` + d.Peek())
		}
	}
}

// MarshalJSON writes "any" or {"only": […]}.
func (c Commands) MarshalJSON() ([]byte, error) {
	switch {
	case c.any && c.Paths == nil:
		return []byte(`"any"`), nil
	case c.any || c.Paths == nil:
		return nil, c.Check()
	}
	return json.Marshal(map[string][]string{"only": c.Paths})
}

// UnmarshalText reads the word any, as TOML libraries have it; its table
// {only = […]} they read into Paths.
func (c *Commands) UnmarshalText(b []byte) error {
	if string(b) != "any" {
		return form.Refuse(form.Quote(string(b)) + ": not any or { only = […] }")
	}
	*c = AnyCommand()
	return nil
}
