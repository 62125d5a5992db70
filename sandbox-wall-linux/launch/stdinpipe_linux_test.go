package launch

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Whoever reads on outside from the pipe that is the program's standard input
// reads nothing that the program put there, and what comes after it.
func TestPipeIsNotWritten(t *testing.T) {
	each(t, func(t *testing.T, by maker) {
		for name, reader := range map[string]string{
			"a shell's script": `read argv; printf '%s\n' "$argv" > /dev/null; exec bash -s -- "$@"`,
			"a loop's lines":   `while read -r line; do case $line in run) "$@";; *) echo "got $line";; esac; done`,
		} {
			if withRace && name == "a loop's lines" {
				continue
			}
			o := sh("for fd in 0 /proc/self/fd/0 /dev/stdin /dev/fd/0; do [ $fd = 0 ] || echo 'echo broken' > $fd; done; echo tried; read rest")
			o.By = by
			in := "run\n"
			if name == "a shell's script" {
				in += "\"$@\"\n"
			}
			cmd := o.command(t, "bash", "-c", reader, "bash")
			stdin, stdout := startPiped(t, cmd)
			io.WriteString(stdin, in)
			readUntil(t, stdout, "tried\n")
			io.WriteString(stdin, "echo rest\n")
			stdin.Close()
			out, _ := io.ReadAll(stdout)
			if err := cmd.Wait(); err != nil || strings.Contains(string(out), "broken") || !strings.Contains(string(out), "rest") {
				t.Errorf("%s: %v, %q", name, err, out)
			}
		}
	})
}

// What the program leaves in the pipe is there for whoever reads on, to the byte.
func TestPipeIsReadOn(t *testing.T) {
	for i, c := range []struct{ feed, program, then, want string }{
		{"seq 1 50000", "head -c 150001 | wc -c", "wc -c", "150001 138893"},
		{"seq 1 9", "read a; read b; echo $a$b", "cat", "12 3 4 5 6 7 8 9"},
		{"seq 1 9", "true", "cat", "1 2 3 4 5 6 7 8 9"},
		{"seq 1 9", "exec <&-; echo shut", "cat", "shut 1 2 3 4 5 6 7 8 9"},
		{"printf 'a\\nb\\nc\\n'", "head -c 2", "cat", "a b c"},
		{"seq 1 50000", "head -c 70000 | wc -c; head -c 3 >/dev/null; head -c 5000 | wc -c", "wc -c", "70000 5000 213891"},
		{"seq 1 3000", "while read x; do n=$x; done; echo $n", "wc -c", "3000 0"},
		{"seq 1 50000", "wc -c; cat /dev/stdin", "wc -c", "288894 0"},
		{":", "wc -c", "wc -c", "0 0"},
		{"yes", "head -n 1", "true", "y"},
	} {
		if withRace && i > 1 {
			break // each takes a second there
		}
		for _, by := range []maker{kernel, shielded}[:2-min(i/2, 1)] {
			o := sh(c.program)
			o.By = by
			got := o.do(t, "bash", "-c", c.feed+` | { "$@"; `+c.then+`; }`, "bash")
			if out := strings.Join(strings.Fields(got.out), " "); out != c.want || got.errs != "" {
				t.Errorf("%s: %s | %s; %s: %q %s, want %q", by, c.feed, c.program, c.then, out, got.errs, c.want)
			}
		}
	}
}

// What is written is there at once, each line, and so is the end; what the program
// left running does not keep the pipe.
func TestPipeAsItComes(t *testing.T) {
	each(t, func(t *testing.T, by maker) {
		o := sh("while read line; do echo got $line; done; echo end; sleep 1000 & exit 3")
		o.By = by
		cmd := o.command(t)
		stdin, stdout := startPiped(t, cmd)
		for i := range 5 {
			fmt.Fprintf(stdin, "line %d\n", i)
			readUntil(t, stdout, fmt.Sprintf("got line %d\n", i))
		}
		stdin.Close()
		readUntil(t, stdout, "end\n")
		if cmd.Wait(); cmd.ProcessState.ExitCode() != 3 {
			t.Errorf("status %d", cmd.ProcessState.ExitCode())
		}
	})
}

// A program that ends while its pipe is open ends the run.
func TestPipeStaysOpen(t *testing.T) {
	each(t, func(t *testing.T, by maker) {
		o := sh("read line; exit 4")
		o.By = by
		cmd := o.command(t)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		defer w.Close()
		cmd.Stdin = r
		io.WriteString(w, "one\ntwo\n")
		if cmd.Run(); cmd.ProcessState.ExitCode() != 4 {
			t.Errorf("status %d", cmd.ProcessState.ExitCode())
		}
		w.Close()
		if left, err := io.ReadAll(r); err != nil || string(left) != "two\n" {
			t.Errorf("%q, %v", left, err)
		}
	})
}

// A pipe with a name is one too.
func TestNamedPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	feed := exec.Command("bash", "-c", `seq 1 9 > "$1"`, "bash", name)
	if err := feed.Start(); err != nil {
		t.Fatal(err)
	}
	defer feed.Wait()
	o := sh("read a; echo $a")
	if got := o.do(t, "bash", "-c", `exec < "$1"; shift; "$@"; cat`, "bash", name); strings.Join(strings.Fields(got.out), " ") != "1 2 3 4 5 6 7 8 9" {
		t.Errorf("%+v", got)
	}
}

// The end of a pipe that is read is no standard output.
func TestPipesReadEndIsNoOutput(t *testing.T) {
	o := sh("true")
	if got := o.do(t, "bash", "-c", `: | "$@" 1<&0 2>/dev/null; echo ${PIPESTATUS[1]}`, "bash"); got.out != "125" {
		t.Errorf("%+v", got)
	}
}

// Read in whatever pieces, from a pipe whose length the program changes, it is what
// was written, in its order, once.
func TestPipeFeeder(t *testing.T) {
	page := os.Getpagesize()
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 1))
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		f, fd, err := feedPipe(r)
		if err != nil {
			t.Fatal(err)
		}
		program := os.NewFile(uintptr(fd), "the program's")
		f.begin()
		sent := make([]byte, random.IntN(40*page))
		for i := range sent {
			sent[i] = byte(random.Uint32())
		}
		go func() {
			pieces := rand.New(rand.NewPCG(seed, 2))
			for rest := sent; len(rest) > 0; {
				n := min(len(rest), 1+pieces.IntN(1<<pieces.IntN(18)))
				w.Write(rest[:n])
				rest = rest[n:]
			}
			w.Close()
		}()
		stop := random.IntN(2*len(sent) + 1)
		var got []byte
		for len(got) < stop {
			if random.IntN(20) == 0 {
				_, _ = unix.FcntlInt(program.Fd(), unix.F_SETPIPE_SZ, page<<random.IntN(6))
			}
			piece := make([]byte, min(stop-len(got), 1+random.IntN(1<<random.IntN(18))))
			n, err := program.Read(piece)
			got = append(got, piece[:n]...)
			if err != nil {
				break
			}
		}
		program.Close()
		f.settle()
		left, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		if !bytes.Equal(append(got, left...), sent) {
			t.Fatalf("seed %d: of %d bytes %d were read, then %d", seed, len(sent), len(got), len(left))
		}
	}
}

// A sandbox that was begun and given up took nothing.
func TestPipeOfOneGivenUp(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, "all\n")
	w.Close()
	Begin(Early{Stdin: r}).GiveUp()
	if left, err := io.ReadAll(r); err != nil || string(left) != "all\n" {
		t.Errorf("%q, %v", left, err)
	}
}

// Who else has the pipe outside sees what was taken while the program goes on.
func TestPipeFeederTakes(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	w.Write(make([]byte, 12*os.Getpagesize()))
	f, fd, err := feedPipe(r)
	if err != nil {
		t.Fatal(err)
	}
	program := os.NewFile(uintptr(fd), "the program's")
	defer program.Close()
	f.begin()
	defer f.settle()
	if _, err := io.ReadFull(program, make([]byte, 5*os.Getpagesize()+1)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "what was taken", func() bool {
		left, err := unix.IoctlGetInt(int(r.Fd()), unix.TIOCINQ)
		return err == nil && left <= 7*os.Getpagesize()
	})
}

// Where much comes for long the pipe outside is made longer, and is as it was when
// the program has ended.
func TestPipeFeederGrows(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	length := func() int {
		n, err := unix.FcntlInt(r.Fd(), unix.F_GETPIPE_SZ, 0)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	was := length()
	sent := make([]byte, 8<<20)
	for i := range sent {
		sent[i] = byte(i / 4096 * 31)
	}
	go func() { w.Write(sent); w.Close() }()
	f, fd, err := feedPipe(r)
	if err != nil {
		t.Fatal(err)
	}
	program := os.NewFile(uintptr(fd), "the program's")
	f.begin()
	got := make([]byte, len(sent)-5000)
	if _, err := io.ReadFull(program, got); err != nil {
		t.Fatal(err)
	}
	program.Close()
	f.settle()
	if now := length(); now != was {
		t.Errorf("its length is %d, was %d", now, was)
	}
	left, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(append(got, left...), sent) {
		t.Errorf("%d bytes were read, then %d of %d: %v", len(got), len(left), len(sent), err)
	}
}

// startPiped starts a command by pipes.
func startPiped(t *testing.T, cmd *exec.Cmd) (io.WriteCloser, io.Reader) {
	t.Helper()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return stdin, stdout
}
