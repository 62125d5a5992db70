package route

import (
	"github.com/go-json-experiment/json"

	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// Shape reads a route's JSON.
func Shape(r *Route) form.Shape {
	return func(d *form.Decoder) {
		var kinds []string
		kind := func(name string, shape form.Shape) form.Member {
			return form.Optional(name, func(d *form.Decoder) {
				if kinds = append(kinds, name); len(kinds) > 1 {
					d.Refuse("a second kind, beside " + kinds[0])
					return
				}
				shape(d)
			})
		}
		form.Object(
			form.Required("name", form.String(&r.Name)),
			kind("secret", held(&r.Kind, SecretShape)).Or(form.IsBool, form.Bool(&r.NeedsSecret)),
			form.Optional("env", form.Strings(&r.Env)),
			kind("tool", held(&r.Kind, toolShape)),
			kind("local_model", held(&r.Kind, localModelShape)),
			kind("open", held(&r.Kind, openShape)),
			kind("model", held(&r.Kind, modelShape)),
			kind("bridge", held(&r.Kind, bridgeShape)),
		)(d)
		if !d.Failed() && r.Kind == nil {
			d.Refuse("no kind, want one of " + kindList)
		}
	}
}

const kindList = "tool, local_model, open, secret, model, bridge"

// held reads one kind into the sum of them.
func held[K Kind](into *Kind, shape func(*K) form.Shape) form.Shape {
	return func(d *form.Decoder) {
		var k K
		shape(&k)(d)
		*into = k
	}
}

// CallerShape reads a caller's JSON.
func CallerShape(c *Caller) form.Shape {
	return form.Object(
		form.Required("sandbox", form.String(&c.Sandbox)),
		form.Required("key", form.String(&c.Key)),
	)
}

func toolShape(t *Tool) form.Shape { return form.Object(toolMembers(t)...) }

func toolMembers(t *Tool) []form.Member {
	return []form.Member{
		form.Required("argv", form.Strings(&t.Argv)),
		form.Required("ask", form.String((*string)(&t.Ask))),
		form.Required("allow", form.List(&t.Allow, form.Strings)),
	}
}

func localModelShape(m *LocalModel) form.Shape {
	return form.Object(form.Required("port", form.Port(&m.Port)))
}

func openShape(*Open) form.Shape { return form.Object() }

// SecretShape reads a secret as a route has it, its placeholder with it.
func SecretShape(s *Secret) form.Shape {
	return form.Object(append(secretMembers(s), form.Required("placeholder", form.String(&s.Placeholder)))...)
}

// HandedSecretShape reads a secret as lnk sandbox run is handed it, which
// makes the placeholder.
func HandedSecretShape(s *Secret) form.Shape {
	return form.Object(append(secretMembers(s), form.Moved("placeholder", "run makes it, leave it out"))...)
}

func secretMembers(s *Secret) []form.Member {
	return []form.Member{
		form.Required("host", form.String(&s.Host)),
		form.Optional("header", form.String(&s.Header)),
		form.Optional("query", form.String(&s.Query)),
		form.Required("value", form.String(&s.Value)),
		form.Optional("paths", form.Strings(&s.Paths)),
	}
}

func modelShape(m *Model) form.Shape {
	return form.Object(
		form.Required("provider", form.String(&m.Provider)),
		form.Required("upstream", form.String(&m.Upstream)),
		form.Required("header", form.String(&m.Header)),
		form.Required("value", form.String(&m.Value)),
	)
}

func bridgeShape(b *Bridge) form.Shape {
	return form.Object(form.Required("socket", form.String(&b.Socket)))
}

// UnmarshalJSON reads a route strictly, as [Shape] does, whichever JSON
// package calls it. It does not judge the values: see [Route.Check].
func (r *Route) UnmarshalJSON(b []byte) error {
	var got Route
	if err := form.Unmarshal(b, Shape(&got)); err != nil {
		return err
	}
	*r = got
	return nil
}

// MarshalJSON writes a route as the contract has it, its kind last.
func (r Route) MarshalJSON() ([]byte, error) {
	if s, is := r.Kind.(Secret); is {
		return json.Marshal(struct {
			Name   string   `json:"name"`
			Env    []string `json:"env,omitempty"`
			Secret Secret   `json:"secret"`
		}{r.Name, r.Env, s})
	}
	w := struct {
		Name       string      `json:"name"`
		Secret     bool        `json:"secret,omitzero"`
		Env        []string    `json:"env,omitempty"`
		Tool       *Tool       `json:"tool,omitzero"`
		LocalModel *LocalModel `json:"local_model,omitzero"`
		Open       *Open       `json:"open,omitzero"`
		Model      *Model      `json:"model,omitzero"`
		Bridge     *Bridge     `json:"bridge,omitzero"`
	}{Name: r.Name, Secret: r.NeedsSecret, Env: r.Env}
	switch k := r.Kind.(type) {
	case Tool:
		w.Tool = &k
	case LocalModel:
		w.LocalModel = &k
	case Open:
		w.Open = &k
	case Model:
		w.Model = &k
	case Bridge:
		w.Bridge = &k
	default:
		return nil, form.Refuse("no kind, want one of " + kindList)
	}
	return json.Marshal(w)
}
