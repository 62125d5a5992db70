//go:build !linux

package tool

import (
	"context"
	"errors"
	"net/http"
	"os"
)

// Tools are run on Linux only, in this version; elsewhere every call says so.

func openTop(string) (*os.File, error) { return nil, errors.ErrUnsupported }

//lint:ignore U1000 what calls it is reached on Linux only
func openBelow(*os.File, string) (*os.File, string, error) { return nil, "", errors.ErrUnsupported }

func (b *bridge) unsupported(w http.ResponseWriter) {
	b.host.refused(w, "tool", refuse(http.StatusNotImplemented, "tools are run on Linux only, in this version"))
}

func (b *bridge) framed(_ context.Context, _ context.CancelFunc, w http.ResponseWriter, _ *http.Request) {
	b.unsupported(w)
}

func (b *bridge) whole(_ context.Context, w http.ResponseWriter, _ *http.Request) { b.unsupported(w) }

func (b *bridge) streamed(_ context.Context, w http.ResponseWriter, _ *http.Request) {
	b.unsupported(w)
}

func (h *Host) openPage([]string) error { return errors.ErrUnsupported }

type reaper struct{}

func (*reaper) close() {}
