package shim

import (
	"io"
	"os"
	"path"
	"strconv"
	"strings"
)

// StatusRefused is what a call ends with where the tool was not run, as env(1)
// has it.
const StatusRefused = 126

// What xdg-open ends with where a page could not be opened (xdg-open(1)).
const (
	statusNotShown = 4
	statusUsage    = 1
)

// openVariable holds the address that opens pages, openName is the name inside
// that calls it.
const (
	openVariable = "LNK_SANDBOX_OPEN"
	openName     = "xdg-open"
)

// OpenName is the name under which pages are opened inside.
const OpenName = openName

// Binary is the name of the program that holds this package and nothing else.
const Binary = "sandbox-call"

// A Call is what this process was started for.
type Call struct {
	name    string
	address string
	opens   bool
	args    []string
	err     io.Writer
}

// Called says whether this process runs under a tool's name: one whose variable
// holds an address, here or in the sandbox's first program.
func Called(argv []string) (Call, bool) {
	if len(argv) == 0 {
		return Call{}, false
	}
	c := Call{name: path.Base(argv[0]), args: argv[1:], err: os.Stderr}
	if c.address = addressFor(variable(c.name)); c.address != "" {
		return c, true
	}
	if c.name == openName {
		c.address, c.opens = addressFor(openVariable), true
	}
	return c, c.address != ""
}

// variable is the variable that holds a tool's address. It is package route's
// ToolVariable, which is not loaded here for that one function; a test compares
// them.
func variable(tool string) string {
	name := []byte("LNK_TOOL_" + tool)
	for i := range name {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z':
			name[i] -= 'a' - 'A'
		case c < '0' || '9' < c && c < 'A' || 'Z' < c:
			name[i] = '_'
		}
	}
	return string(name)
}

// Run makes the call and gives the status to exit with.
func (c Call) Run() int {
	if c.opens {
		return c.open()
	}
	return c.run()
}

// say prints a line of ours.
func (c Call) say(line string) {
	io.WriteString(c.err, "lnk sandbox: "+printable(c.name)+": "+printable(line)+"\n")
}

// printable is what a line from outside is shown as.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || 0x80 <= r && r < 0xa0 {
			return '?'
		}
		return r
	}, s)
}

// open has a page opened outside.
func (c Call) open() int {
	if len(c.args) != 1 || c.args[0] == "" || c.args[0][0] == '-' {
		c.say("want one address, http or https")
		return statusUsage
	}
	to, err := dial(c.address)
	if err != nil {
		c.say(err.Error())
		return statusNotShown
	}
	defer to.Close()
	io.WriteString(to, "POST "+to.path+" HTTP/1.1\r\nHost: "+to.host+"\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: "+
		strconv.Itoa(len(c.args[0]))+"\r\n\r\n"+c.args[0])
	answer, err := readAnswer(to)
	switch {
	case err != nil:
		c.say("the sandbox's proxy gave no answer")
	case answer.status != 200:
		c.say(answer.line())
	default:
		return 0
	}
	return statusNotShown
}
