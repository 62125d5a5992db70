package client

import (
	"fmt"
	"io"
	"math"

	"github.com/lnkhq/lnk-sandbox/measure-contract"
	"github.com/lnkhq/lnk-sandbox/sandbox-route/form"
)

// ReadTraffic reads what lnk sandbox traffic --json prints, a list.
func ReadTraffic(r io.Reader) ([]measure.Traffic, error) {
	got, err := read(r, trafficsShape)
	return got, err
}

// WriteTraffic writes such a list.
func WriteTraffic(w io.Writer, list []measure.Traffic) error {
	if list == nil {
		list = []measure.Traffic{}
	}
	return write(w, traffics(list))
}

// ReadTrafficRecord reads one published record, a file of sandbox/traffic/.
func ReadTrafficRecord(r io.Reader) (measure.Traffic, error) {
	got, err := read(r, trafficRecordShape)
	return measure.Traffic(got), err
}

// WriteTrafficRecord writes one as a proxy publishes it.
func WriteTrafficRecord(w io.Writer, t measure.Traffic) error { return write(w, trafficRecord(t)) }

// ReadTokens reads what a model route's bridge has counted.
func ReadTokens(r io.Reader) (measure.Tokens, error) {
	got, err := read(r, tokensShape)
	return measure.Tokens(got), err
}

// WriteTokens writes it.
func WriteTokens(w io.Writer, t measure.Tokens) error { return write(w, tokens(t)) }

// The forms of the measure contract, which carries no reader of its own.
type (
	traffics      []measure.Traffic
	trafficRecord measure.Traffic
	tokens        measure.Tokens
)

// Check judges the entries: each process once.
func (l traffics) Check() error {
	seen := map[int]bool{}
	return form.Each(l, func(t measure.Traffic) error {
		if seen[t.PID] {
			return form.At("pid", form.Refuse(fmt.Sprintf("%d: named twice", t.PID)))
		}
		seen[t.PID] = true
		return trafficRecord(t).Check()
	})
}

// Check judges one entry.
func (t trafficRecord) Check() error {
	if t.PID < 1 || t.PID > math.MaxInt32 {
		return form.At("pid", form.Refuse("want the id of a process"))
	}
	return form.At("sandbox", form.Name(t.Sandbox))
}

// Check has nothing to judge: any counts can be.
func (tokens) Check() error { return nil }

func trafficsShape(l *traffics) form.Shape {
	return form.List((*[]measure.Traffic)(l), func(t *measure.Traffic) form.Shape {
		return trafficRecordShape((*trafficRecord)(t))
	})
}

func trafficRecordShape(t *trafficRecord) form.Shape {
	return form.Object(
		form.Required("pid", form.Whole(&t.PID, 1, math.MaxInt32)),
		form.Required("sandbox", form.String(&t.Sandbox)),
		form.Required("up", count(&t.Up)),
		form.Required("down", count(&t.Down)),
		form.Optional("tokens", form.New(&t.Tokens, func(u *measure.Tokens) form.Shape { return tokensShape((*tokens)(u)) })),
	)
}

func tokensShape(t *tokens) form.Shape {
	return form.Object(
		form.Required("requests", count(&t.Requests)),
		form.Required("unmetered", count(&t.Unmetered)),
		form.Required("input", count(&t.Input)),
		form.Required("output", count(&t.Output)),
		form.Required("cached", count(&t.Cached)),
		form.Required("written", count(&t.Written)),
	)
}

func count(p *uint64) form.Shape { return form.Whole(p, 0, math.MaxUint64) }
