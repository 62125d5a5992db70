package probes

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// tryTime bounds one attempt.
const tryTime = 10 * time.Second

func no(err error) Result {
	var path *fs.PathError
	var op *net.OpError
	var link *os.LinkError
	switch {
	case errors.As(err, &link):
		err = link.Err
	case errors.As(err, &path):
		err = path.Err // the probe's name has the path
	case errors.As(err, &op):
		err = op.Err
	}
	return Result{Detail: strings.ReplaceAll(err.Error(), "\n", " ")}
}

func did(format string, a ...any) Result { return Result{Did: true, Detail: fmt.Sprintf(format, a...)} }

func untried(err error) Result {
	r := no(err)
	r.Untried = true
	return r
}

// Try makes an attempt.
func Try(a Attempt) Result {
	switch a.Kind {
	case ReadPath:
		return readPath(a.Path, a.Word)
	case OpenPath:
		f, err := openAtOnce(a.Path, os.O_RDONLY)
		if err != nil {
			return no(err)
		}
		f.Close()
		return did("it can be opened")
	case WritePath:
		return writePath(a.Path)
	case Plant:
		return plant(a.Path)
	case Move:
		return move(a.Path)
	case SeeProcess:
		if a.Started != "" && startedAt(fmt.Sprintf("/proc/%d/stat", a.Process)) == a.Started {
			return did("process %d is in view", a.Process)
		}
		return Result{Detail: "not in view"}
	case DialTCP:
		return dial("tcp", a.Address, a.Word)
	case DialUnix:
		short, done := shortened(a.Path)
		defer done()
		return dial("unix", short, a.Word)
	case Reach:
		return dial("tcp", a.Address, "")
	case SendUDP:
		return sendUDP(a.Address, a.Word)
	case Connect:
		return throughProxy(a.Address, "")
	case ConnectWord:
		return throughProxy(a.Address, a.Word)
	case Execute, Memory:
		return execute(a.Kind == Memory)
	case Kernel:
		return askKernel(a.Path)
	}
	return Result{Untried: true, Detail: "no such attempt: " + string(a.Kind)}
}

// readPath reads a byte. With a word it is that file's that is meant, and not
// one of the same name.
func readPath(path, word string) Result {
	f, err := openAtOnce(path, os.O_RDONLY)
	if err != nil {
		return no(err)
	}
	defer f.Close()
	_ = f.SetReadDeadline(time.Now().Add(tryTime)) // of a pipe that somebody writes
	if info, err := f.Stat(); err == nil && info.IsDir() {
		entries, err := f.ReadDir(1)
		if errors.Is(err, io.EOF) {
			return Result{Detail: "an empty folder"} // as a closed one may look
		}
		if err != nil {
			return no(err)
		}
		return did("its entries can be read, %s among them", entries[0].Name())
	}
	b := make([]byte, max(len(word), 1))
	switch n, err := io.ReadFull(f, b); {
	case err != nil && word == "" && n == 0 && errors.Is(err, io.EOF):
		return Result{Detail: "an empty file"}
	case err != nil:
		return no(err)
	case word != "" && string(b) != word:
		return Result{Detail: "another file is there"}
	}
	return did("read")
}

// openAtOnce opens what may be a pipe, without a wait for its other end (fifo(7)).
func openAtOnce(path string, flag int) (*os.File, error) {
	return os.OpenFile(path, flag|syscall.O_NONBLOCK, 0)
}

// writePath opens a file to write, or makes one in a folder.
func writePath(path string) Result {
	info, err := os.Stat(path)
	if err != nil {
		return no(err)
	}
	if !info.IsDir() {
		f, err := openAtOnce(path, os.O_WRONLY)
		if errors.Is(err, syscall.ENXIO) {
			return did("it can be opened to write, by who waits for a reader")
		}
		if err != nil {
			return no(err)
		}
		f.Close()
		return did("it can be opened to write")
	}
	at := filepath.Join(path, ".lnk-check-"+strings.ToLower(rand.Text()))
	f, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return no(err)
	}
	f.Close()
	if err := os.Remove(at); err != nil {
		return did("a file was made, and cannot be taken away: %s", at)
	}
	return did("a file was made and taken away")
}

// plant makes a dot file, or changes what is there.
func plant(path string) Result {
	if _, err := os.Lstat(path); err == nil {
		return writePath(path)
	}
	if filepath.Ext(path) == ".envrc" {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return no(err)
		}
		f.Close()
	} else if err := os.Mkdir(path, 0o700); err != nil {
		return no(err)
	}
	if err := os.Remove(path); err != nil {
		return did("it was made, and cannot be taken away")
	}
	return did("it was made and taken away")
}

// move gives a folder another name for a moment.
func move(path string) Result {
	to := path + ".lnk-check-" + strings.ToLower(rand.Text())
	if err := os.Rename(path, to); err != nil {
		return no(err)
	}
	if err := os.Rename(to, path); err != nil {
		return did("it was moved, and cannot be moved back: %s", to)
	}
	return did("it was moved, and moved back")
}

// dial calls a listener. With a word it is ours that is meant: inside, another
// may be there at the same address.
func dial(network, address, word string) Result {
	conn, err := net.DialTimeout(network, address, tryTime)
	if err != nil {
		return no(err)
	}
	defer conn.Close()
	if word == "" {
		return did("connected")
	}
	return heard(conn, word)
}

// maxSocketPath is how long the path of a socket may be (unix(7)), less a zero.
const maxSocketPath = 107

// shortened gives a path that a socket can have, for one that is too long: by
// way of its folder, which is open until done is called.
func shortened(path string) (short string, done func()) {
	if len(path) <= maxSocketPath || strings.HasPrefix(path, "@") || runtime.GOOS != "linux" {
		return path, func() {}
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return path, func() {}
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)), func() { dir.Close() }
}

func heard(conn net.Conn, word string) Result {
	conn.SetDeadline(time.Now().Add(tryTime))
	b := make([]byte, len(word))
	if _, err := io.ReadFull(conn, b); err != nil {
		return Result{Detail: "cut off: " + no(err).Detail}
	}
	if string(b) != word {
		return Result{Detail: "another server is there"}
	}
	return did("called")
}

func sendUDP(address, word string) Result {
	conn, err := net.Dial("udp", address)
	if err != nil {
		return no(err)
	}
	defer conn.Close()
	for range 3 { // one may be lost
		if _, err := conn.Write([]byte(word)); err != nil {
			return no(err)
		}
		conn.SetReadDeadline(time.Now().Add(time.Second))
		b := make([]byte, len(word))
		n, err := conn.Read(b)
		if err == nil && string(b[:n]) == word {
			return did("it was answered")
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return no(err)
		}
	}
	return Result{Detail: "no answer"}
}

// throughProxy asks the proxy that the environment names for a connection.
func throughProxy(address, word string) Result {
	at, err := url.Parse(os.Getenv("HTTPS_PROXY"))
	if err != nil || at.Host == "" {
		return Result{Untried: true, Detail: "HTTPS_PROXY names no proxy"}
	}
	conn, err := net.DialTimeout("tcp", at.Host, tryTime)
	if err != nil {
		return untried(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(tryTime))
	head := "CONNECT " + address + " HTTP/1.1\r\nHost: " + address + "\r\n"
	if password, with := at.User.Password(); with {
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(at.User.Username(), password)
		head += "Proxy-Authorization: " + r.Header.Get("Authorization") + "\r\n"
	}
	io.WriteString(conn, head+"\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect})
	if err != nil {
		return no(err)
	}
	resp.Body.Close()
	switch {
	case resp.StatusCode != http.StatusOK:
		return Result{Detail: resp.Status}
	case word == "":
		return did("connected")
	}
	return heard(conn, word)
}
