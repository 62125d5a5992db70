package journal

import (
	"errors"
	"time"

	"github.com/go-json-experiment/json"

	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
)

// What a line is of.
const (
	Call  = "call"  // a call, let through or refused, when it is over
	Began = "began" // a proxy has begun to serve
	Ended = "ended" // it ends; Status is the program's, where one was started
	Lost  = "lost"  // N lines could not be written, or came too fast to be
	// Changed is written by the wall at a program's end: what it changed, at
	// Path, of what tools outside act on. Detail says what happened to it.
	Changed = "changed"
)

// maxLine bounds a line that is read, in bytes.
const maxLine = 16 << 10

// A Line is one entry of a log.
type Line struct {
	_ [0]func()

	At      time.Time `json:"at"`
	Sandbox string    `json:"sandbox"` // its name
	What    string    `json:"what"`    // one of those above

	// Of a call.
	By      judge.By     `json:"by,omitzero"`
	Route   string       `json:"route,omitzero"`
	Host    string       `json:"host,omitzero"`
	Port    uint16       `json:"port,omitzero"`
	Allowed bool         `json:"allowed,omitzero"`
	Reason  judge.Reason `json:"reason,omitzero"`
	Detail  string       `json:"detail,omitzero"`
	Open    string       `json:"open,omitzero"` // what would let a refused call through
	// Outcome is how what a route did ended: a tool's call.
	Outcome string `json:"outcome,omitzero"`
	// Address is the one that refused it, or the far side's.
	Address string `json:"address,omitzero"`
	Up      uint64 `json:"up,omitzero"`
	Down    uint64 `json:"down,omitzero"`
	// Milliseconds is how long it was open.
	Milliseconds int64 `json:"ms,omitzero"`

	// Of a proxy.
	PID    int    `json:"pid,omitzero"`
	Status *int   `json:"status,omitzero"`
	N      uint64 `json:"n,omitzero"`

	// Path is that of a file or folder on this machine.
	Path string `json:"path,omitzero"`
}

func lineOf(r proxy.Record) Line {
	l := Line{
		At: r.At, What: Call, By: r.By, Route: r.Route, Host: r.Host, Port: r.Port,
		Allowed: r.Allowed, Reason: r.Reason, Detail: r.Detail, Open: r.Open.String(), Outcome: r.Outcome, Up: r.Up, Down: r.Down,
		Milliseconds: r.Took.Milliseconds(),
	}
	if r.Address.IsValid() {
		l.Address = r.Address.String()
	}
	return l
}

// write gives the line with its end. What is no UTF-8 is shown as such.
func (l Line) write() ([]byte, error) {
	b, err := json.Marshal(l, json.DefaultOptionsV2(), allowInvalid)
	return append(b, '\n'), err
}

// read reads a line.
func read(text []byte) (Line, error) {
	var l Line
	if len(text) > maxLine {
		return l, errors.New("a line of a log that is too long")
	}
	// A later version may write more than is known here.
	if err := json.Unmarshal(text, &l, allowInvalid); err != nil {
		return Line{}, errors.New("not a line of a log")
	}
	return l, nil
}
