package route

import (
	"io"

	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// Mounts is what a proxy is given to mount: the form of <name>.routes.json and
// of what is handed on a pipe with --routes-handed.
type Mounts struct {
	_ [0]func()

	// Routes are the routes.
	Routes []Route `json:"routes"`
	// Caller is what their bridges are told of who calls.
	Caller Caller `json:"caller"`
	// URLSecret is what the routes that need one are mounted under. It is given
	// so on a pipe; beside a file it is in one of its own.
	URLSecret string `json:"url_secret,omitempty"`
}

// ReadMounts reads and judges what a proxy mounts.
func ReadMounts(r io.Reader) (Mounts, error) {
	var m Mounts
	err := form.Read(r, form.Object(
		form.Required("routes", form.List(&m.Routes, Shape)),
		form.Required("caller", CallerShape(&m.Caller)),
		form.Optional("url_secret", form.String(&m.URLSecret)),
	))
	if err == nil {
		err = m.Check()
	}
	if err != nil {
		return Mounts{}, err
	}
	return m, nil
}

// WriteMounts judges what a proxy mounts and writes it. It holds secrets.
func WriteMounts(w io.Writer, m Mounts) error {
	if err := m.Check(); err != nil {
		return err
	}
	return form.Write(w, m)
}

// Check judges the values.
func (m Mounts) Check() error {
	secret := form.URLSecret(m.URLSecret)
	if m.URLSecret == "" {
		secret = nil
	}
	return form.First(
		form.At("routes", CheckRoutes(m.Routes, Beside{})),
		form.At("caller", m.Caller.Check()),
		form.At("url_secret", secret),
	)
}

// NamedTool is a tool as it is registered: the form of tools/<name>.json, and
// of each line of lnk sandbox tool list --json.
type NamedTool struct {
	_ [0]func()

	// Name is the tool's, a name of the contract.
	Name string `json:"name"`
	Tool
}

// ReadNamedTool reads and judges a registered tool.
func ReadNamedTool(r io.Reader) (NamedTool, error) {
	var t NamedTool
	err := form.Read(r, form.Object(append([]form.Member{form.Required("name", form.String(&t.Name))}, toolMembers(&t.Tool)...)...))
	if err == nil {
		err = t.Check()
	}
	if err != nil {
		return NamedTool{}, err
	}
	return t, nil
}

// WriteNamedTool judges a registered tool and writes it.
func WriteNamedTool(w io.Writer, t NamedTool) error {
	if err := t.Check(); err != nil {
		return err
	}
	return form.Write(w, t)
}

// Check judges the values.
func (t NamedTool) Check() error {
	return form.First(form.At("name", form.Name(t.Name)), t.Tool.check())
}
