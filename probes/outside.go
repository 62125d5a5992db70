package probes

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
)

// An Outside is what is there to be reached: made for one check, and gone with
// it. An empty member is one that could not be made here.
type Outside struct {
	// Home and Settings are the user's folders.
	Home, Settings string
	// Word is what listeners say and files hold.
	Word string

	// files that hold the word
	inSettings, inHome, inTmp string
	// listeners that say it
	loopback, own, udp, abstract, socket string
	metadata                             bool
	process                              int
	started                              string
	disk                                 string
	listening                            map[uint16]bool // named ports of loopback

	mu     sync.Mutex
	closes []func()
	work   sync.WaitGroup
}

// metadataAddress is where clouds tell a machine its credentials.
const metadataAddress = "169.254.169.254:80"

// lookTime bounds the call of the metadata address, outside.
const lookTime = 300 * time.Millisecond

// Start makes what a check of c tries for.
func Start(c client.Confinement, home, settings string) *Outside {
	o := &Outside{Home: home, Settings: settings, Word: "lnk-check-" + strings.ToLower(rand.Text()), listening: map[uint16]bool{}}
	os.MkdirAll(filepath.Join(settings, "sandbox"), 0o700) // as whoever writes there first makes it
	o.inSettings = o.file(filepath.Join(settings, "sandbox"))
	o.inHome = o.file(home)
	o.inTmp = o.file(os.TempDir())
	o.loopback = o.tcp("127.0.0.1:0")
	if at := ownAddress(); at.IsValid() {
		o.own = o.tcp(netip.AddrPortFrom(at, 0).String())
		o.udp = o.answers(netip.AddrPortFrom(at, 0).String())
	}
	o.abstract = o.unix("@" + o.Word)
	for _, dir := range c.Write {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			o.socket = o.unix(filepath.Join(dir, "."+o.Word))
			break
		}
	}
	if conn, err := net.DialTimeout("tcp", metadataAddress, lookTime); err == nil {
		conn.Close()
		o.metadata = true
	}
	for _, port := range ports(c.Net) {
		if conn, err := net.DialTimeout("tcp", "127.0.0.1:"+strconv.Itoa(int(port)), tryTime); err == nil {
			conn.Close()
			o.listening[port] = true
		}
	}
	o.process, o.started = os.Getpid(), startedAt("/proc/self/stat")
	o.disk = firstDisk()
	return o
}

// Close takes it all away.
func (o *Outside) Close() {
	o.mu.Lock()
	closes := o.closes
	o.closes = nil
	o.mu.Unlock()
	for _, f := range slices.Backward(closes) {
		f()
	}
	o.work.Wait()
}

func (o *Outside) later(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closes = append(o.closes, f)
}

// file makes a file that holds the word.
func (o *Outside) file(dir string) string {
	at := filepath.Join(dir, "."+o.Word)
	f, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return ""
	}
	o.later(func() { os.Remove(at) })
	_, err = f.WriteString(o.Word)
	if err = errors.Join(err, f.Close()); err != nil {
		return ""
	}
	return at
}

// tcp listens and says the word to whoever calls.
func (o *Outside) tcp(at string) string {
	l, err := net.Listen("tcp", at)
	if err != nil {
		return ""
	}
	o.serve(l)
	return l.Addr().String()
}

func (o *Outside) unix(at string) string {
	short, done := shortened(at)
	l, err := net.Listen("unix", short)
	if err != nil {
		done()
		return ""
	}
	o.later(done) // after the socket is taken away by that name
	if !strings.HasPrefix(at, "@") {
		os.Chmod(at, 0o600)
	}
	o.serve(l)
	return at
}

func (o *Outside) serve(l net.Listener) {
	o.later(func() { l.Close() })
	o.work.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.SetDeadline(time.Now().Add(tryTime))
			conn.Write([]byte(o.Word))
			conn.Close()
		}
	})
}

// answers says the word to whoever sends a packet.
func (o *Outside) answers(at string) string {
	l, err := net.ListenPacket("udp", at)
	if err != nil {
		return ""
	}
	o.later(func() { l.Close() })
	o.work.Go(func() {
		b := make([]byte, 1500)
		for {
			_, from, err := l.ReadFrom(b)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				l.WriteTo([]byte(o.Word), from)
			}
		}
	})
	return l.LocalAddr().String()
}

// ownAddress is one of this machine's own that is not loopback's.
func ownAddress() netip.Addr {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return netip.Addr{}
	}
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() && !p.Addr().IsLoopback() && !p.Addr().IsLinkLocalUnicast() {
			return p.Addr()
		}
	}
	return netip.Addr{}
}

// firstDisk is a block device of this machine that is there to be opened.
func firstDisk() string {
	entries, err := os.ReadDir("/dev")
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if e.Type()&(fs.ModeDevice|fs.ModeCharDevice) == fs.ModeDevice {
			return filepath.Join("/dev", e.Name())
		}
	}
	return ""
}

// startedAt is the 22nd field of a stat of proc(5): when a process started.
func startedAt(stat string) string {
	b, err := os.ReadFile(stat)
	if err != nil {
		return ""
	}
	_, behind, _ := strings.Cut(string(b), ") ") // its name may hold spaces
	if fields := strings.Fields(behind); len(fields) > 19 {
		return fields[19]
	}
	return ""
}
