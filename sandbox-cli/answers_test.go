package cli_test

import (
	"strings"
	"testing"
)

// A command whose answer cannot be written says so, and does not end as one that
// has answered.
func TestAnswersThatCannotBeWritten(t *testing.T) {
	s := newSandbox(t)
	for command, status := range map[string]int{
		"why a.example": 125, "why --internet-host=a.example a.example": 125, "check": 125, "paused": 1, "paused --json": 1, "traffic": 1, "traffic --json": 1,
		"tool list": 1, "asks": 1, "help": 1, "run --help": 125, "completion bash": 1,
	} {
		e := s.command("", []string{"sh", "-c", "exec " + lnk() + " sandbox " + command + " >/dev/full"})
		if e.status != status || !strings.HasSuffix(e.errors, ": no space left on device\n") || strings.Count(e.errors, "\n") != 1 {
			t.Errorf("%s: %+v", command, e)
		}
	}
}

// A word that is no command, and a number that is none of a flag's, are told as
// such: help of them is not somebody else's.
func TestWordsThatAreNone(t *testing.T) {
	s := newSandbox(t)
	for args, says := range map[string]string{
		"help nosuch":                   "help: \"nosuch\": no such command: `lnk sandbox help` lists them",
		"help run x":                    "help: \"run x\": no such command",
		"--yes run":                     "unknown flag: --yes: flags stand behind the command",
		"log -n -1":                     "log: --lines -1: want 0, which is all, or more",
		"log --lines":                   "log: --lines: want its value behind it",
		"tool add a/b -- true":          "tool add: name: \"a/b\": ",
		"tool add a --ask=some -- true": "tool add: --ask: \"some\": ",
	} {
		if e := s.lnk(strings.Fields(args)...); e.status != 2 || !strings.Contains(e.errors, says) || strings.Count(e.errors, "\n") != 1 || e.out != "" {
			t.Errorf("%s: %+v", args, e)
		}
	}
	if out := s.well("help", "tool", "add"); !strings.Contains(out, "lnk sandbox tool add <name>") {
		t.Errorf("%q", out)
	}
}

// What is to be hidden and is not there is told: it may be spelled otherwise.
func TestHidesNothing(t *testing.T) {
	s := newSandbox(t)
	s.put("there", "")
	for name, says := range map[string]string{"there": "", "nothere": "lnk sandbox run: --hide nothere: not there, so that nothing is hidden: see that it is spelled right\n"} {
		if e := s.run("--write=.", "--hide="+name, "--", "true"); e.status != 0 || e.errors != says {
			t.Errorf("%s: %+v", name, e)
		}
	}
}
