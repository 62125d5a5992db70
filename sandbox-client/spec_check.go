package client

import (
	"errors"
	"slices"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// Modes that a spec can name.
const (
	modeClosed   = "closed"
	modeLoopback = "loopback"
	modeProxied  = "proxied"
	modeHost     = "host"
)

// SpecError is a refusal of one key of a spec. It wraps [ErrRequest].
type SpecError struct {
	// Key is the key, "network.ports[1]"; empty is the whole spec.
	Key string
	// Problem is what is wrong with it, and what to do about it: one line, no
	// full stop, no secret.
	Problem string
}

// Error gives "<key>: <problem>".
func (e *SpecError) Error() string {
	if e.Key == "" {
		return e.Problem
	}
	return form.OneLine(e.Key) + ": " + e.Problem
}

// Unwrap gives [ErrRequest].
func (e *SpecError) Unwrap() error { return ErrRequest }

// specError names a refusal's place as a spec's key.
func specError(err error) error {
	var e *form.Error
	if !errors.As(err, &e) {
		return err
	}
	return &SpecError{Key: specKey(e.Pointer), Problem: e.Problem}
}

// specKey writes a JSON pointer as a dotted key, an item of a list as [i].
func specKey(pointer string) string {
	var key strings.Builder
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch {
		case token != "" && strings.Trim(token, "0123456789") == "":
			key.WriteString("[" + token + "]")
			continue
		case pointer != "" && (token == "" || strings.ContainsAny(token, ".\"' \t")):
			token = form.Quote(token)
		}
		if key.Len() > 0 {
			key.WriteString(".")
		}
		key.WriteString(token)
	}
	return key.String()
}

// Check judges the values of a spec, as far as that needs no machine: what
// its paths are is judged by [Of].
func (s Spec) Check() error {
	return form.First(
		form.At("name", optionalName(s.Name)),
		form.At("files", s.Files.check()),
		form.At("program", form.At("commands", s.Program.checkCommands())),
		form.At("network", s.Network.check()),
		form.At("limits", s.Limits.check()),
	)
}

func (f SpecFiles) check() error {
	return form.First(
		form.At("write", form.Each(f.Write, checkSpecPath)),
		form.At("write_dot_files", form.Each(f.WriteDotFiles, checkSpecPath)),
		form.At("read", form.Each(f.Read, checkSpecPath)),
		form.At("hide", form.Each(f.Hide, checkSpecPath)),
		form.At("tmp_prefix", checkTmpPrefix(f.TmpPrefix)),
	)
}

// checkSpecPath judges a path as a spec has it.
func checkSpecPath(p string) error {
	if err := form.PathText(p); err != nil {
		return err
	}
	if p[0] == '~' && p != "~" && p[:2] != "~/" {
		return form.Refuse(form.Quote(p) + ": another user's home folder is written in full, a file of that name as " + form.Quote("./"+p))
	}
	return nil
}

func (p SpecProgram) checkCommands() error {
	if p.Commands == nil {
		return nil
	}
	return p.Commands.check(checkSpecPath)
}

func (n SpecNetwork) mode() string {
	if n.Mode == "" {
		return modeClosed
	}
	return n.Mode
}

func (n SpecNetwork) check() error {
	upstream := func() error {
		if n.Upstream == "" {
			return nil
		}
		return CheckUpstream(n.Upstream)
	}
	perMinute := func() error {
		if n.PerMinute == nil {
			return nil
		}
		if *n.PerMinute == 0 {
			return form.Refuse("0: want 1 or more (no_internet = true reaches nothing)")
		}
		return checkPerMinute(*n.PerMinute)
	}
	return form.First(
		form.At("mode", form.OneOf(n.mode(), modeClosed, modeLoopback, modeProxied, modeHost)),
		n.checkKeys(),
		form.At("hosts", form.Each(n.Hosts, form.Token)),
		form.At("tcp", form.Each(n.TCP, form.Token)),
		form.At("per_minute", perMinute()),
		form.At("ports", form.DistinctPorts(n.Ports)),
		form.At("serve", form.DistinctPorts(n.Serve)),
		form.At("upstream", upstream()),
		form.At("tools", form.First(form.Each(n.Tools, form.Name), form.Distinct(n.Tools))),
		form.At("local_models", form.DistinctPorts(n.LocalModels)),
	)
}

// checkKeys refuses keys that the mode does not read: somebody meant
// something by them that would not be so.
func (n SpecNetwork) checkKeys() error {
	for _, k := range []struct {
		name  string
		set   bool
		modes []string
	}{
		{"hosts", n.Hosts != nil, []string{modeProxied}},
		{"tcp", len(n.TCP) > 0, []string{modeProxied}},
		{"lan", n.LAN, []string{modeProxied}},
		{"no_internet", n.NoInternet, []string{modeProxied}},
		{"per_minute", n.PerMinute != nil, []string{modeProxied}},
		{"ports", len(n.Ports) > 0, []string{modeLoopback, modeProxied, modeHost}},
		{"serve", len(n.Serve) > 0, []string{modeProxied}},
		{"upstream", n.Upstream != "", []string{modeProxied}},
		{"tools", len(n.Tools) > 0, []string{modeProxied}},
		{"local_models", len(n.LocalModels) > 0, []string{modeProxied}},
		{"open", n.Open, []string{modeProxied}},
		{"localhost", n.Localhost, []string{modeHost}},
	} {
		if k.set && !slices.Contains(k.modes, n.mode()) {
			return form.At(k.name, form.Refuse("not with network.mode = "+form.Quote(n.mode())+", want "+strings.Join(k.modes, " or ")))
		}
	}
	return nil
}
