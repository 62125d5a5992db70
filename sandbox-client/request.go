package client

import (
	"io"

	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// Error is a refusal of one member of a form, named as a JSON pointer.
type Error = form.Error

// ErrRequest is what every refusal of a form wraps.
var ErrRequest = form.ErrRequest

// MaxBytes is how long a form may be: 1 MiB. A longer one is refused before
// it is parsed.
const MaxBytes = form.MaxBytes

// A WrapRequest is what lnk sandbox wrap reads: {"confinement", "argv"} or
// {"unwalled", "argv"}, exactly one of the two.
type WrapRequest struct {
	_ [0]func()

	// Confinement is the sandbox, or nil.
	Confinement *Confinement `json:"confinement,omitzero"`
	// Unwalled is what argv runs under with no wall, or nil.
	Unwalled *Unwalled `json:"unwalled,omitzero"`
	// Argv is the command line, at least one word. Argv[0] is found on the
	// caller's PATH inside the sandbox's view, when it starts.
	Argv []string `json:"argv"`
}

// ReadWrapRequest reads and judges a request.
func ReadWrapRequest(r io.Reader) (WrapRequest, error) {
	return read(r, wrapRequestShape)
}

// WriteWrapRequest judges a request and writes it.
func WriteWrapRequest(w io.Writer, r WrapRequest) error { return write(w, r) }

// Check judges the values of a request.
func (r WrapRequest) Check() error {
	switch {
	case r.Confinement == nil && r.Unwalled == nil:
		return form.Refuse("neither confinement nor unwalled, want one")
	case r.Confinement != nil && r.Unwalled != nil:
		return form.Refuse("both confinement and unwalled, want one")
	case r.Confinement != nil:
		return form.First(form.At("confinement", r.Confinement.Check()), form.At("argv", form.Argv(r.Argv)))
	}
	return form.First(form.At("unwalled", r.Unwalled.Check()), form.At("argv", form.Argv(r.Argv)))
}

func wrapRequestShape(r *WrapRequest) form.Shape {
	return func(d *form.Decoder) {
		form.Object(
			form.Optional("confinement", form.New(&r.Confinement, confinementShape)),
			form.Optional("unwalled", form.New(&r.Unwalled, unwalledShape)),
			policyMoved,
			form.Required("argv", form.Strings(&r.Argv)),
		)(d)
	}
}

// policyMoved refuses what callers sent before there were confinements.
var policyMoved = form.Moved("policy", "it is now confinement, which has other members")

// A CheckRequest is what lnk sandbox check --policy reads: {"confinement"}.
// The contract calls this form Wrap; in Go that is the function.
type CheckRequest struct {
	_ [0]func()

	// Confinement is the sandbox to check.
	Confinement Confinement `json:"confinement"`
}

// ReadCheckRequest reads and judges a request to check a confinement.
func ReadCheckRequest(r io.Reader) (CheckRequest, error) { return read(r, checkRequestShape) }

// WriteCheckRequest judges such a request and writes it.
func WriteCheckRequest(w io.Writer, r CheckRequest) error { return write(w, r) }

// Check judges the values of a request.
func (r CheckRequest) Check() error { return form.At("confinement", r.Confinement.Check()) }

func checkRequestShape(r *CheckRequest) form.Shape {
	return form.Object(
		form.Required("confinement", confinementShape(&r.Confinement)),
		form.Moved("unwalled", "it has no wall to check"),
		policyMoved,
	)
}

// A form is one that can judge its own values.
type checked interface{ Check() error }

// read reads one form and judges it. What it gives with an error is empty.
func read[T checked](r io.Reader, shape func(*T) form.Shape) (T, error) {
	var got, none T
	if err := form.Read(r, shape(&got)); err != nil {
		return none, err
	}
	if err := got.Check(); err != nil {
		return none, err
	}
	return got, nil
}

// write judges a form and writes it, so that what is written can be read.
func write(w io.Writer, v checked) error {
	if err := v.Check(); err != nil {
		return err
	}
	return form.Write(w, v)
}
