package cli

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// modelFlags are how a person gives a run a model whose key stays outside.
type modelFlags struct {
	of   []string // <provider>[=<base address>]
	from []string // <provider>=env:<variable>, file:<path> or command:<words>
}

func (f *modelFlags) flags(fl *pflag.FlagSet) {
	fl.StringArrayVar(&f.of, "model", nil, "a `model`'s API with its key added outside: anthropic, google or openai, or <one of them>=<base address> for another's of that form")
	fl.StringArrayVar(&f.from, "model-from", nil, "where its key is, if not in the provider's own variable, a `place`: <provider>=env:<variable>, file:<path> or command:<words>")
}

// A provider is where a provider's API is and how it takes its key, as its own
// libraries do.
type provider struct {
	upstream, header, template string
	variable                   string // of the key
	base                       string // the variable of the address that its libraries ask
}

var providers = map[string]provider{
	"anthropic": {"https://api.anthropic.com", "x-api-key", "{}", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"},
	"google":    {"https://generativelanguage.googleapis.com", "x-goog-api-key", "{}", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"},
	"openai":    {"https://api.openai.com/v1", "Authorization", "Bearer {}", "OPENAI_API_KEY", "OPENAI_BASE_URL"},
}

// A givenModel is a model's route. Libraries want a key, so the program gets a
// variable with what is none.
type givenModel struct {
	route.Route
	variable, placeholder string
}

// models reads the models of --model, their keys with them.
func (f modelFlags) models() ([]givenModel, error) {
	from := map[string]string{}
	for _, entry := range f.from {
		name, where, ok := strings.Cut(entry, "=")
		if _, twice := from[name]; !ok || twice {
			return nil, refuse("--model-from %s: want <provider>=env:<variable>, file:<path> or command:<words>, once a provider", form.Quote(name))
		}
		from[name] = where
	}
	var all []givenModel
	for _, entry := range f.of {
		name, upstream, elsewhere := strings.Cut(entry, "=")
		p, known := providers[name]
		if !known {
			return nil, refuse("--model %s: want one of %s", form.Quote(name), strings.Join(slices.Sorted(maps.Keys(providers)), ", "))
		}
		base := ""
		if !elsewhere {
			// A person who has the provider's libraries ask another host has a
			// key of that one's: it is not for the provider.
			if base = os.Getenv(p.base); base != "" {
				upstream = strings.TrimRight(base, "/")
			} else {
				upstream = p.upstream
			}
		}
		where, said := from[name]
		if !said {
			where = "env:" + p.variable
		}
		delete(from, name)
		key, err := valueFrom(where)
		if err != nil {
			if _, there := os.LookupEnv(p.variable); !said && !there {
				err = fmt.Errorf("%w: set it, or say where the key is: --model-from %s=env:<variable>, file:<path> or command:<words>", err, name)
			}
			return nil, refuse("--model %s: its key: %v", name, err)
		}
		m := givenModel{variable: p.variable, placeholder: placeholderFor(key), Route: route.Route{Name: name, NeedsSecret: true, Kind: route.Model{
			Provider: name, Upstream: upstream, Header: p.header, Value: written(p.template, key),
		}}}
		if err := m.Check(); err != nil {
			if base != "" {
				return nil, refuse("--model %s: %s of your environment, %s: %v: name the address: --model %s=<base address>", name, p.base, form.Quote(base), err, name)
			}
			return nil, refuse("--model %s: %v", name, err)
		}
		all = append(all, m)
	}
	for name := range from {
		return nil, refuse("--model-from %s: no --model has this name", form.Quote(name))
	}
	return all, nil
}
