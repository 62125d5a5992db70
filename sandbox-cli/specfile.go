package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// specPatience bounds the wait for whoever writes a spec into a pipe.
const specPatience = 20 * time.Second

// A specFile is the file of --spec. It may be a pipe, as of a shell's <(…), in
// which all there is can be read once.
type specFile struct {
	name string
	// read gives what it says, the same each time.
	read func() (client.Spec, error)
}

func (f *specFile) String() string { return f.name }
func (f *specFile) Type() string   { return "string" }

// Set takes the file's name. An empty one, as of a variable that is not set, is
// not the same as no flag.
func (f *specFile) Set(name string) error {
	if name == "" {
		return errors.New("empty, want a file (of a variable, see that it is set)")
	}
	if f.given() {
		// The later would open what the earlier closes.
		return fmt.Errorf("%s was named before: one spec says all: put what both say into one", f.name)
	}
	*f = specFile{name: name, read: sync.OnceValues(func() (client.Spec, error) { return readSpec(name, specPatience) })}
	return nil
}

func (f *specFile) given() bool { return f.name != "" }

// lies gives the folder that the paths of a spec are relative to, and the file
// that is kept from the program. One that was handed down lies in no folder: its
// paths are relative to cwd, and where it is a pipe there is no file to keep.
func (f *specFile) lies(cwd string) (folder, file string, err error) {
	if file, err = filepath.Abs(f.name); err != nil {
		return "", "", err
	}
	if !within(file, "/dev") && !within(file, "/proc") {
		return filepath.Dir(file), file, nil
	}
	if file, err = filepath.EvalSymlinks(file); err != nil || within(file, "/dev") || within(file, "/proc") {
		file = ""
	}
	return cwd, file, nil
}

// readSpec reads a spec's file: JSON where its name ends in .json, else TOML. It
// waits for the end of a pipe no longer than patience; nothing in one is more
// likely a writer that failed than a spec that opens nothing.
func readSpec(path string, patience time.Duration) (client.Spec, error) {
	info, err := os.Stat(path)
	if err != nil {
		return client.Spec{}, fmt.Errorf("--spec: %w", err)
	}
	var text []byte
	if pipe := info.Mode()&os.ModeNamedPipe != 0; !pipe {
		text, err = specText(path)
	} else if text, err = pipedText(path, patience); err == nil && len(text) == 0 {
		err = errors.New("nothing came through this pipe: see what writes into it")
	}
	if err != nil {
		return client.Spec{}, fmt.Errorf("--spec: %w", err)
	}
	s, err := specOf(text, strings.EqualFold(filepath.Ext(path), ".json"))
	if err != nil {
		return client.Spec{}, fmt.Errorf("%s: %w", path, withKeys(err))
	}
	return s, nil
}

// pipedText is [specText] with a bound: to open a pipe waits for a writer.
func pipedText(path string, patience time.Duration) (text []byte, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		text, err = specText(path)
	}()
	select {
	case <-done:
		return text, err
	case <-time.After(patience):
		return nil, fmt.Errorf("%s: is a pipe that nobody has written to its end in %v", path, patience)
	}
}

func specText(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, client.MaxBytes+1))
	if err == nil && len(text) > client.MaxBytes {
		err = fmt.Errorf("%s: longer than 1 MiB", path)
	}
	return text, err
}
