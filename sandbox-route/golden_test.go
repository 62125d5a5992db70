package route_test

import (
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-route"
	"github.com/lnkhq/lnk-sandbox/sandbox-route/form/formtest"
)

var (
	mounts     = formtest.Form[route.Mounts]{Read: route.ReadMounts, Write: route.WriteMounts}
	namedTools = formtest.Form[route.NamedTool]{Read: route.ReadNamedTool, Write: route.WriteNamedTool}
)

func TestGolden(t *testing.T) {
	t.Run("mounts", func(t *testing.T) { formtest.Golden(t, "testdata/mounts.txt", mounts) })
	t.Run("named tool", func(t *testing.T) { formtest.Golden(t, "testdata/named_tool.txt", namedTools) })
}

func FuzzMounts(f *testing.F)    { formtest.Fuzz(f, "testdata/mounts.txt", mounts) }
func FuzzNamedTool(f *testing.F) { formtest.Fuzz(f, "testdata/named_tool.txt", namedTools) }
