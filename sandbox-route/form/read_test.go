package form_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// thing has one of each shape.
type thing struct {
	text  string
	flag  bool
	port  uint16
	count uint64
	delta int
	words []string
	pairs map[string]string
	inner *thing
}

func thingShape(t *thing) form.Shape {
	return form.Object(
		form.Optional("text", form.String(&t.text)),
		form.Optional("flag", form.Bool(&t.flag)),
		form.Optional("port", form.Port(&t.port)),
		form.Optional("count", form.Whole(&t.count, 0, math.MaxUint64)),
		form.Optional("delta", form.Whole(&t.delta, -5, 5)),
		form.Optional("words", form.Strings(&t.words)),
		form.Optional("pairs", form.Map(&t.pairs, form.String)),
		form.Optional("a/b~c", form.Bool(&t.flag)),
		// A shape that holds itself is made when it is read.
		form.Optional("inner", func(d *form.Decoder) { form.New(&t.inner, thingShape)(d) }),
	)
}

func TestReadRefuses(t *testing.T) {
	for in, want := range map[string]string{
		`{"text":1}`:                            "/text: want a string, got a number",
		`{"text":null}`:                         "/text: want a string, got null",
		`{"text":["a"]}`:                        "/text: want a string, got a list",
		`{"text":true}`:                         "/text: want a string, got true or false",
		`{"flag":1}`:                            "/flag: want true or false, got a number",
		`{"flag":null}`:                         "/flag: want true or false, got null",
		`{"port":"1"}`:                          "/port: want a number, got a string",
		`{"port":-0}`:                           "/port: want a whole number of 1 to 65535",
		`{"count":-0}`:                          "/count: want a whole number of 0 to 18446744073709551615",
		`{"count":1.0}`:                         "/count: want a whole number of 0 to 18446744073709551615",
		`{"count":1e1}`:                         "/count: want a whole number of 0 to 18446744073709551615",
		`{"count":18446744073709551616}`:        "/count: want a whole number of 0 to 18446744073709551615",
		`{"port":65537}`:                        "/port: want a whole number of 1 to 65535",
		`{"delta":18446744073709551615}`:        "/delta: want a whole number of -5 to 5",
		`{"delta":-6}`:                          "/delta: want a whole number of -5 to 5",
		`{"words":{}}`:                          "/words: want a list, got an object",
		`{"words":["a",["b"]]}`:                 "/words/1: want a string, got a list",
		`{"words":["a",]}`:                      "/words/1: not JSON: invalid character ',' at start of value (byte 13)",
		`{"pairs":[]}`:                          "/pairs: want an object, got a list",
		`{"pairs":{"x":"1","x":"1"}}`:           "/pairs/x: repeated",
		`{"pairs":{"x":{}}}`:                    "/pairs/x: want a string, got an object",
		`{"a/b~c":1}`:                           "/a~1b~0c: want true or false, got a number",
		`{"inner":{"inner":{"words":[0]}}}`:     "/inner/inner/words/0: want a string, got a number",
		`{"inner":{},"inner":{}}`:               "/inner: repeated",
		`{"Text":""}`:                           "/Text: unknown, names are case-sensitive: text",
		`{"txt":""}`:                            "/txt: unknown",
		`{"":1}`:                                "/: unknown",
		`{"a/b":1}`:                             "/a~1b: unknown",
		`{} x`:                                  "something follows the value",
		`{}{}`:                                  "something follows the value",
		`{`:                                     "not JSON: it ends too early",
		``:                                      "empty, want a JSON value",
		" \n":                                   "empty, want a JSON value",
		`"x"`:                                   "want an object, got a string",
		"\ufeff{}":                              "not JSON: invalid character '\\ufeff' at start of value (byte 0)",
		"{\"text\":\"\xff\"}":                   "/text: not JSON: invalid UTF-8 (byte 9)",
		`{"text":"\ud800"}`:                     "/text: not JSON: invalid text (byte 9)",
		"{\"text\":\"a\nb\"}":                   "/text: not JSON: invalid character '\\n' in string (expecting non-control character) (byte 10)",
		`{"text":"\udc00hunter2"}`:              "/text: not JSON: invalid text (byte 9)",
		`{"text":"\uZZZZhunter2"}`:              "/text: not JSON: invalid text (byte 9)",
		`{"text":"\qhunter2"}`:                  "/text: not JSON: invalid text (byte 9)",
		`{"text":"\u00`:                         "/text: not JSON: it ends too early",
		`{"text":'a'}`:                          "/text: not JSON: invalid character '\\'' at start of value (byte 8)",
		`{"text":"a"/**/}`:                      "not JSON: invalid character '/' after object value (expecting ',' or '}') (byte 11)",
		`{"count":01}`:                          "",
		`{"count":+1}`:                          "",
		`{"count":NaN}`:                         "",
		strings.Repeat("[", 20000):              "want an object, got a list",
		strings.Repeat(`{"inner":`, 1000) + `1`: "",
	} {
		var v thing
		err := form.Unmarshal([]byte(in), thingShape(&v))
		if err == nil {
			t.Errorf("%.60q is read", in)
			continue
		}
		if want != "" && err.Error() != want {
			t.Errorf("%.60q\n got %s\nwant %s", in, err, want)
		}
		var e *form.Error
		if !errors.As(err, &e) || !errors.Is(err, form.ErrRequest) {
			t.Errorf("%.60q: %T does not tell what kind it is", in, err)
		}
	}
}

func TestReadReads(t *testing.T) {
	const in = ` {"text": "\u00e9\"", "flag": true, "port": 65535, "count": 18446744073709551615, "delta": -5,
		"words": [], "pairs": {}, "a/b~c": false, "inner": {"words": ["", "a"], "pairs": {"": "x"}}} `
	var v thing
	if err := form.Read(iotest.OneByteReader(strings.NewReader(in)), thingShape(&v)); err != nil {
		t.Fatal(err)
	}
	if v.text != `é"` || v.port != 65535 || v.count != math.MaxUint64 || v.delta != -5 || v.flag ||
		v.words == nil || v.pairs == nil || v.inner == nil || len(v.inner.words) != 2 || v.inner.pairs[""] != "x" || v.inner.inner != nil {
		t.Errorf("read %+v", v)
	}
}

// What is too long is refused before it is parsed: it is not even JSON.
func TestReadIsBounded(t *testing.T) {
	var v thing
	whole := []byte(`{"text":"` + strings.Repeat("a", form.MaxBytes-11) + `"}`)
	if len(whole) != form.MaxBytes {
		t.Fatalf("the case is %d bytes", len(whole))
	}
	if err := form.Read(bytes.NewReader(whole), thingShape(&v)); err != nil {
		t.Errorf("1 MiB is refused: %v", err)
	}
	endless := &countingReader{}
	err := form.Read(endless, thingShape(&v))
	if err == nil || err.Error() != "more than 1 MiB" || !errors.Is(err, form.ErrRequest) {
		t.Errorf("an endless one: %v", err)
	}
	if endless.n > 2*form.MaxBytes {
		t.Errorf("%d bytes of an endless one were read", endless.n)
	}
	if err := form.Unmarshal(append(whole, ' '), thingShape(&v)); err == nil || err.Error() != "more than 1 MiB" {
		t.Errorf("1 MiB and a byte: %v", err)
	}
}

type countingReader struct{ n int }

func (r *countingReader) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '!'
	}
	r.n += len(b)
	return len(b), nil
}

func TestReadFails(t *testing.T) {
	boom := errors.New("boom")
	err := form.Read(iotest.ErrReader(boom), form.Object())
	if !errors.Is(err, boom) || errors.Is(err, form.ErrRequest) {
		t.Errorf("a reader that fails: %v", err)
	}
}

func TestLine(t *testing.T) {
	for in, want := range map[string]string{"a\nb\n": "a", "a": "a", "": "", "\na": "", "ab\r\nc": "ab\r"} {
		for _, r := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in)), iotest.DataErrReader(strings.NewReader(in))} {
			if b, err := io.ReadAll(form.Line(r)); err != nil || string(b) != want {
				t.Errorf("the line of %q is %q (%v)", in, b, err)
			}
		}
	}
}

// A line that has ended is not waited for.
func TestLineEnds(t *testing.T) {
	r, w := io.Pipe()
	defer r.Close()
	go w.Write([]byte("a\n")) // and it stays open
	if b, err := io.ReadAll(form.Line(r)); err != nil || string(b) != "a" {
		t.Errorf("read %q (%v)", b, err)
	}
}

func TestOrAndMoved(t *testing.T) {
	var flag bool
	var text string
	shape := form.Object(
		form.Optional("x", form.String(&text)).Or(form.IsBool, form.Bool(&flag)),
		form.Moved("old", "it is now x"),
	)
	for in, want := range map[string]string{
		`{"x":true}`:         "",
		`{"x":"a"}`:          "",
		`{"x":null}`:         "/x: want a string, got null",
		`{"x":true,"x":"a"}`: "/x: repeated",
		`{"old":{"y":[]}}`:   "/old: it is now x",
		`{}`:                 "",
	} {
		err := form.Unmarshal([]byte(in), shape)
		if got := message(err); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	if !flag || text != "a" {
		t.Errorf("read %v and %q", flag, text)
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Whatever comes, it is read or refused on one line, and no member that the
// shape does not have gets through.
func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte(`{"text":"a","inner":{"words":["b"],"port":1}}`))
	f.Add([]byte(`{"pairs":{"a":"b"},"delta":-1}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var v thing
		err := form.Unmarshal(in, thingShape(&v))
		if err != nil {
			if s := err.Error(); !errors.Is(err, form.ErrRequest) || strings.ContainsAny(s, "\n\r\x1b\x00") {
				t.Errorf("refused with %q", s)
			}
			return
		}
		// What is read must be writable: text of a form is always UTF-8.
		out, err := form.Append(nil, map[string]any{"text": v.text, "words": v.words, "pairs": v.pairs})
		if err != nil || len(out) == 0 {
			t.Errorf("what was read cannot be written: %v", err)
		}
	})
}
