package say_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"syscall"
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-cli/say"
)

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain":              "plain",
		"two\nlines":         `two\x0alines`,
		"steer \x1b[2J":      `steer \x1b[2J`,
		"bad \xff utf-8":     `bad \xff utf-8`,
		"reordered \u202e x": `reordered \xe2\x80\xae x`,
		"naïve":              "naïve",
	} {
		if got := say.OneLine(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	for in, want := range map[string]string{
		"{\"a\":\"na\u00efve\"}\n":       "{\"a\":\"na\u00efve\"}\n",
		"[\"\u009b2J\u202e\x7f\ufeff\"]": `["\u009b2J\u202e\u007f\ufeff"]`,
		"[\"\U000e0001\"]":               `["\udb40\udc01"]`,
		"[\"bad \xff\"]":                 `["bad \ufffd"]`,
	} {
		got := string(say.JSON([]byte(in)))
		var a, b any
		if got != want || json.Unmarshal([]byte(in), &a) != nil || json.Unmarshal([]byte(got), &b) != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestStatusOf(t *testing.T) {
	if got := say.StatusOf(say.SetupFailed(errors.New("x"))); got != 125 {
		t.Error(got)
	}
	if got := say.StatusOf(fmt.Errorf("more: %w", say.Refuse("x"))); got != 2 {
		t.Error(got)
	}
	if got := say.StatusOf(errors.New("x")); got != 1 {
		t.Error(got)
	}
}

func TestComplain(t *testing.T) {
	for want, err := range map[string]error{
		"lnk sandbox run: a; b\n": errors.Join(errors.New("a"), errors.New("b")),
		"lnk sandbox run: pipe: too many open files: raise the limit on open files (ulimit -n)\n":                          fmt.Errorf("pipe: %w", syscall.EMFILE),
		"lnk sandbox run: x.run: file too large: raise the limit on the size of files (ulimit -f)\n":                       fmt.Errorf("x.run: %w", syscall.EFBIG),
		"lnk sandbox run: fork: resource temporarily unavailable: raise the limit on processes (ulimit -u), or end some\n": fmt.Errorf("fork: %w", syscall.EAGAIN),
		"lnk sandbox run: raise it (ulimit -n): too many open files\n":                                                     fmt.Errorf("raise it (ulimit -n): %w", syscall.EMFILE),
	} {
		var b bytes.Buffer
		if say.Complain(&b, "run", err); b.String() != want {
			t.Errorf("%q, want %q", b.String(), want)
		}
	}
}
