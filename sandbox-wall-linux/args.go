package linuxwall

import (
	"fmt"
	"slices"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// Args gives the flags of the wall stage that say the same as a confinement
// and its network, a flag a path, ending with "--": argv comes after it. Of
// the confinement's net only where it comes from is said, and the folders of
// its sockets are hidden: the rest is the business of the stages before.
// [ParseArgs] is its inverse.
func Args(c client.Confinement, net NetFrom) []string {
	args := []string{"--name", c.Name}
	each := func(flag string, values []string) {
		for _, v := range values {
			args = append(args, flag, v)
		}
	}
	is := func(flag string, on bool) {
		if on {
			args = append(args, flag)
		}
	}
	each("--write", c.Write)
	each("--write-dot-files", c.WriteDotFiles)
	each("--read", c.Read)
	is("--read-home", c.ReadHome)
	each("--hide", closedPaths(c))
	if c.TmpPrefix != "" {
		args = append(args, "--tmp-prefix", c.TmpPrefix)
	}
	is("--terminal", c.Terminal)
	if only, restricted := c.Commands.Only(); restricted {
		args = append(args, "--commands", "only")
		each("--only", only)
	} else {
		args = append(args, "--commands", "any")
	}
	is("--developer-tools", c.DeveloperTools)
	return append(args, "--net", net.String(), "--")
}

// ParseArgs reads what [Args] wrote and the program's argv behind it. It is
// strict: a flag that is not known, that stands twice where once is meant, or
// that lacks its value is an error, and so is a missing name, commands or net.
// The values are judged by [PlanFor]. Only a network that is the wall's own
// gives the confinement a net.
func ParseArgs(args []string) (c client.Confinement, net NetFrom, argv []string, err error) {
	p := argParser{rest: args, seen: map[string]bool{}}
	for {
		flag, ok := p.next()
		if !ok {
			return client.Confinement{}, 0, nil, fmt.Errorf("wall: no -- before the program's own arguments")
		}
		if flag == "--" {
			break
		}
		if err := p.flag(flag); err != nil {
			return client.Confinement{}, 0, nil, fmt.Errorf("wall: %w", err)
		}
	}
	if err := p.finish(); err != nil {
		return client.Confinement{}, 0, nil, fmt.Errorf("wall: %w", err)
	}
	net = Given
	for _, n := range []NetFrom{Own, Machine} {
		if p.net == n.String() {
			net = n
		}
	}
	return p.c, net, p.rest, nil
}

type argParser struct {
	rest     []string
	seen     map[string]bool
	c        client.Confinement
	net      string
	commands string
	only     []string
}

func (p *argParser) next() (string, bool) {
	if len(p.rest) == 0 {
		return "", false
	}
	word := p.rest[0]
	p.rest = p.rest[1:]
	return word, true
}

func (p *argParser) flag(flag string) error {
	switch flag {
	case "--write":
		return p.list(flag, &p.c.Write)
	case "--write-dot-files":
		return p.list(flag, &p.c.WriteDotFiles)
	case "--read":
		return p.list(flag, &p.c.Read)
	case "--hide":
		return p.list(flag, &p.c.Hide)
	case "--only":
		return p.list(flag, &p.only)
	case "--read-home":
		return p.on(flag, &p.c.ReadHome)
	case "--terminal":
		return p.on(flag, &p.c.Terminal)
	case "--developer-tools":
		return p.on(flag, &p.c.DeveloperTools)
	case "--name":
		return p.word(flag, &p.c.Name)
	case "--tmp-prefix":
		return p.word(flag, &p.c.TmpPrefix)
	case "--commands":
		return p.word(flag, &p.commands, "any", "only")
	case "--net":
		return p.word(flag, &p.net, Own.String(), Given.String(), Machine.String())
	}
	return fmt.Errorf("%s: no such flag", shown(flag))
}

// list adds to what a flag that may be repeated named.
func (p *argParser) list(flag string, into *[]string) error {
	v, ok := p.next()
	if !ok {
		return fmt.Errorf("%s: lacks its value", flag)
	}
	*into = append(*into, v)
	return nil
}

func (p *argParser) once(flag string) error {
	if p.seen[flag] {
		return fmt.Errorf("%s: stands twice", flag)
	}
	p.seen[flag] = true
	return nil
}

func (p *argParser) on(flag string, into *bool) error {
	*into = true
	return p.once(flag)
}

// word reads the one value of a flag: one of those that are given, or any
// that is not empty.
func (p *argParser) word(flag string, into *string, oneOf ...string) error {
	v, ok := p.next()
	switch {
	case !ok:
		return fmt.Errorf("%s: lacks its value", flag)
	case v == "":
		return fmt.Errorf("%s: empty", flag)
	case len(oneOf) > 0 && !slices.Contains(oneOf, v):
		return fmt.Errorf("%s: %s: not one of %v", flag, shown(v), oneOf)
	}
	*into = v
	return p.once(flag)
}

// finish checks what only shows at the end, and puts it together.
func (p *argParser) finish() error {
	for _, flag := range []string{"--name", "--commands", "--net"} {
		if !p.seen[flag] {
			return fmt.Errorf("%s: missing", flag)
		}
	}
	switch {
	case p.commands == "any" && p.only != nil:
		return fmt.Errorf("--only: beside --commands any")
	case p.commands == "any":
		p.c.Commands = client.AnyCommand()
	default:
		p.c.Commands = client.OnlyCommands(p.only...)
	}
	if p.net == Own.String() {
		p.c.Net = client.NetOf(client.Closed{})
	}
	if len(p.rest) == 0 {
		return fmt.Errorf("no program behind --")
	}
	return nil
}
