package client

import (
	"github.com/go-json-experiment/json"

	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// The forms read and written by whichever JSON package a program uses: part of
// other settings, say. Reading is as strict as their Read functions are about
// members and types; it does not judge values, which is for Check.

// unmarshal reads a form into *into, which keeps what it was on a refusal.
func unmarshal[T any](b []byte, into *T, shape func(*T) form.Shape) error {
	var got T
	if err := form.Unmarshal(b, shape(&got)); err != nil {
		return err
	}
	*into = got
	return nil
}

// marshal writes a form as the Write functions do: a list that is nil is
// empty, variables are sorted.
func marshal(v any) ([]byte, error) { return json.Marshal(v, json.Deterministic(true)) }

// UnmarshalJSON reads a confinement strictly.
func (c *Confinement) UnmarshalJSON(b []byte) error { return unmarshal(b, c, confinementShape) }

// MarshalJSON writes a confinement.
func (c Confinement) MarshalJSON() ([]byte, error) { type plain Confinement; return marshal(plain(c)) }

// UnmarshalJSON reads a net strictly.
func (n *Net) UnmarshalJSON(b []byte) error { return unmarshal(b, n, netShape) }

// UnmarshalJSON reads what may be executed strictly.
func (c *Commands) UnmarshalJSON(b []byte) error { return unmarshal(b, c, commandsShape) }

// UnmarshalJSON reads a proxy strictly.
func (p *Proxy) UnmarshalJSON(b []byte) error { return unmarshal(b, p, proxyShape) }

// MarshalJSON writes a proxy.
func (p Proxy) MarshalJSON() ([]byte, error) { type plain Proxy; return marshal(plain(p)) }

// UnmarshalJSON reads an Unwalled strictly.
func (u *Unwalled) UnmarshalJSON(b []byte) error { return unmarshal(b, u, unwalledShape) }

// UnmarshalJSON reads a request strictly.
func (r *WrapRequest) UnmarshalJSON(b []byte) error { return unmarshal(b, r, wrapRequestShape) }

// MarshalJSON writes a request.
func (r WrapRequest) MarshalJSON() ([]byte, error) { type plain WrapRequest; return marshal(plain(r)) }

// UnmarshalJSON reads a request strictly.
func (r *CheckRequest) UnmarshalJSON(b []byte) error { return unmarshal(b, r, checkRequestShape) }

// UnmarshalJSON reads what a wrap printed strictly.
func (v *Wrapped) UnmarshalJSON(b []byte) error { return unmarshal(b, v, wrappedShape) }

// MarshalJSON writes what a wrap prints.
func (v Wrapped) MarshalJSON() ([]byte, error) { type plain Wrapped; return marshal(plain(v)) }

// UnmarshalJSON reads a spec strictly; what it refuses is a [*SpecError].
func (s *Spec) UnmarshalJSON(b []byte) error { return specError(unmarshal(b, s, specShape)) }

// MarshalJSON writes a spec.
func (s Spec) MarshalJSON() ([]byte, error) { type plain Spec; return marshal(plain(s)) }

// UnmarshalJSON reads what a run is given strictly.
func (v *RunWith) UnmarshalJSON(b []byte) error { return unmarshal(b, v, runWithShape) }

// MarshalJSON writes what a run is given.
func (v RunWith) MarshalJSON() ([]byte, error) { type plain RunWith; return marshal(plain(v)) }

// UnmarshalJSON reads a secret of a run strictly.
func (s *Secret) UnmarshalJSON(b []byte) error { return unmarshal(b, s, secretShape) }

// UnmarshalJSON reads a bind strictly.
func (b *ProxyBind) UnmarshalJSON(j []byte) error { return unmarshal(j, b, proxyBindShape) }

// MarshalJSON writes a bind.
func (b ProxyBind) MarshalJSON() ([]byte, error) { type plain ProxyBind; return marshal(plain(b)) }

// UnmarshalJSON reads an answer strictly.
func (b *ProxyBound) UnmarshalJSON(j []byte) error { return unmarshal(j, b, proxyBoundShape) }

// UnmarshalJSON reads the wires' state strictly.
func (v *Wires) UnmarshalJSON(b []byte) error { return unmarshal(b, v, wiresShape) }

// MarshalJSON writes the wires' state.
func (v Wires) MarshalJSON() ([]byte, error) { type plain Wires; return marshal(plain(v)) }
