package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/stages"
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tool"
	"github.com/lnkhq/lnk-sandbox/sandbox-route"
	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

func newTool(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tool",
		Short: "Programs of this machine that sandboxes may have run outside",
		Long: `A tool is a program that runs outside the sandbox, as you, once for each call: the
program inside finds it on its PATH by its name. A sandbox has the tools that its
spec (network.tools) or --tool names. What a tool can be made to do by its words,
the program inside can do: a call is asked about unless --allow or --ask none
says otherwise.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	cmd.AddCommand(newToolAdd(), newToolList(s), newToolRemove(s))
	return cmd
}

func newToolAdd() *cobra.Command {
	var ask string
	var allow []string
	cmd := &cobra.Command{
		Use:   "add <name> [--ask all|none] [--allow '<words>']… -- <program> [args]",
		Short: "Add a tool, or change one",
		Long: `Each --allow is a call that is not asked about: the words that may follow the
program and its args. In a word * is any run of characters; a last word * is all
the rest of a call, nothing too.`,
		Example: `  lnk sandbox tool add gh --allow 'pr list *' --allow 'pr view *' -- gh
  lnk sandbox tool add docker --ask none -- docker --context scratch`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 || c.ArgsLenAtDash() != 1 {
				return refuse("want `lnk sandbox tool add <name> [flags] -- <program> [args]`")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return addTool(args[0], ask, allow, args[1:]) },
	}
	cmd.Flags().StringVar(&ask, "ask", string(route.AskAll), "`all|none`: under all, a call is asked about unless --allow names it; under none, no call is")
	cmd.Flags().StringArrayVar(&allow, "allow", nil, "the `words` of a call that is not asked about")
	return cmd
}

func addTool(name, ask string, allow, argv []string) error {
	path, err := exec.LookPath(argv[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return fmt.Errorf("%s: not found: name a program that is there", form.Quote(argv[0]))
	}
	if slices.Contains(stages.OwnNames, name) {
		return refuse("%s: it is what the sandbox itself is called inside: take another name", name)
	}
	t := route.NamedTool{Name: name, Tool: route.Tool{
		Argv: append([]string{path}, argv[1:]...), Ask: route.Ask(ask), Allow: [][]string{},
	}}
	for _, line := range allow {
		words, err := splitWords(line)
		if err != nil {
			return refuse("--allow %s: %v", form.Quote(line), err)
		}
		t.Allow = append(t.Allow, words)
	}
	if err := t.Check(); err != nil {
		// Where it stands in the tool's file: that is a flag, or an argument.
		text := strings.TrimPrefix(err.Error(), "/")
		for _, flag := range []string{"ask", "allow"} {
			if strings.HasPrefix(text, flag+":") || strings.HasPrefix(text, flag+"/") {
				text = "--" + text
			}
		}
		return refuse("%s", text)
	}
	settings, err := settingsFolder()
	if err != nil {
		return err
	}
	file, err := settings.Tool(name)
	if err != nil {
		return withStatus(statusRefused, err)
	}
	var text strings.Builder
	if err := route.WriteNamedTool(&text, t); err != nil {
		return err
	}
	if err := writeWhole(file, text.String()); err != nil {
		return settingsError(err)
	}
	return nil
}

// splitWords splits a line into words, as a shell would one that has quotes and
// backslashes and nothing else.
func splitWords(line string) ([]string, error) {
	words := []string{}
	var word strings.Builder
	in, quote, escaped := false, byte(0), false
	for i := range len(line) {
		c := line[i]
		switch {
		case escaped:
			word.WriteByte(c)
			escaped = false
		case c == '\\' && quote != '\'':
			in, escaped = true, true
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				word.WriteByte(c)
			}
		case c == '\'' || c == '"':
			in, quote = true, c
		case c == ' ' || c == '\t' || c == '\n':
			if in {
				words = append(words, word.String())
				word.Reset()
			}
			in = false
		default:
			word.WriteByte(c)
			in = true
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("a quote or a backslash without its end")
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}

func newToolList(s Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [--json]",
		Short: "List the tools",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return listTools(s, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line: name, argv, ask, allow")
	return cmd
}

func listTools(s Streams, asJSON bool) error {
	tools, err := readTools()
	if len(tools) == 0 && err == nil && !asJSON {
		fmt.Fprintln(s.Out, "no tool is added")
	}
	for _, t := range tools {
		if asJSON {
			if err := route.WriteNamedTool(s.Out, t); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(s.Out, "%-16s %s\n", t.Name, oneLine(tool.Shown(t.Argv)))
		switch {
		case t.Ask == route.AskNone:
			fmt.Fprintf(s.Out, "%-16s asks about nothing\n", "")
		case len(t.Allow) == 0:
			fmt.Fprintf(s.Out, "%-16s asks about every call\n", "")
		}
		for _, words := range t.Allow {
			fmt.Fprintf(s.Out, "%-16s does not ask about %s\n", "", oneLine(shownPattern(words)))
		}
	}
	return err
}

// shownPattern shows the words of an allowed call, of which a star is one.
func shownPattern(words []string) string {
	var out []string
	for _, w := range words {
		if w == "*" {
			out = append(out, w)
		} else {
			out = append(out, tool.Shown([]string{w}))
		}
	}
	if len(out) == 0 {
		return "a call without words"
	}
	return strings.Join(out, " ")
}

// readTools reads every tool, by name. One whose file cannot be read does not
// hide the others.
func readTools() ([]route.NamedTool, error) {
	settings, err := client.Settings()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(settings.Tools())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var tools []route.NamedTool
	var faults []error
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), ".json")
		if !is || form.Name(name) != nil {
			continue
		}
		t, err := readTool(filepath.Join(settings.Tools(), e.Name()))
		switch {
		case err != nil:
			faults = append(faults, fmt.Errorf("tool %s: %w", name, err))
		case t.Name != name:
			faults = append(faults, fmt.Errorf("tool %s: its file is of tool %s", name, form.Quote(t.Name)))
		default:
			tools = append(tools, t)
		}
	}
	return tools, errors.Join(faults...)
}

func readTool(path string) (route.NamedTool, error) {
	f, err := os.Open(path)
	if err != nil {
		return route.NamedTool{}, err
	}
	defer f.Close()
	return route.ReadNamedTool(f)
}

func newToolRemove(Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "remove <name>",
		Short: "Remove a tool",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return refuse("want `lnk sandbox tool remove <name>`")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			settings, err := client.Settings()
			if err != nil {
				return err
			}
			file, err := settings.Tool(args[0])
			if err != nil {
				return withStatus(statusRefused, err)
			}
			if err := os.Remove(file); errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s: no tool of that name", form.Quote(args[0]))
			} else if err != nil {
				return err
			}
			return nil
		},
	}
}
