package client_test

import (
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-client"
	"github.com/lnkhq/lnk-sandbox/sandbox-route/form/formtest"

	"github.com/lnkhq/lnk-sandbox/measure-contract"
)

// The forms, each with the file of its cases. The fuzz targets read the same.
var (
	wrapRequests  = formtest.Form[client.WrapRequest]{Read: client.ReadWrapRequest, Write: client.WriteWrapRequest}
	checkRequests = formtest.Form[client.CheckRequest]{Read: client.ReadCheckRequest, Write: client.WriteCheckRequest}
	wrappeds      = formtest.Form[client.Wrapped]{Read: client.ReadWrapped, Write: client.WriteWrapped}
	specs         = formtest.Form[client.Spec]{Read: client.ReadSpecJSON, Write: client.WriteSpecJSON}
	runWiths      = formtest.Form[client.RunWith]{Read: client.ReadRunWith, Write: client.WriteRunWith}
	binds         = formtest.Form[client.ProxyBind]{Read: client.ReadProxyBind, Write: client.WriteProxyBind}
	bounds        = formtest.Form[client.ProxyBound]{Read: client.ReadProxyBound, Write: client.WriteProxyBound}
	wires         = formtest.Form[client.Wires]{Read: client.ReadWires, Write: client.WriteWires}
	traffics      = formtest.Form[[]measure.Traffic]{Read: client.ReadTraffic, Write: client.WriteTraffic}
	records       = formtest.Form[measure.Traffic]{Read: client.ReadTrafficRecord, Write: client.WriteTrafficRecord}
	tokens        = formtest.Form[measure.Tokens]{Read: client.ReadTokens, Write: client.WriteTokens}
)

func TestGolden(t *testing.T) {
	t.Run("wrap request", func(t *testing.T) { formtest.Golden(t, "testdata/wrap_request.txt", wrapRequests) })
	t.Run("check request", func(t *testing.T) { formtest.Golden(t, "testdata/check_request.txt", checkRequests) })
	t.Run("wrapped", func(t *testing.T) { formtest.Golden(t, "testdata/wrapped.txt", wrappeds) })
	t.Run("spec", func(t *testing.T) { formtest.Golden(t, "testdata/spec.txt", specs) })
	t.Run("run with", func(t *testing.T) { formtest.Golden(t, "testdata/run_with.txt", runWiths) })
	t.Run("proxy bind", func(t *testing.T) { formtest.Golden(t, "testdata/proxy_bind.txt", binds) })
	t.Run("proxy bound", func(t *testing.T) { formtest.Golden(t, "testdata/proxy_bound.txt", bounds) })
	t.Run("wires", func(t *testing.T) { formtest.Golden(t, "testdata/wires.txt", wires) })
	t.Run("traffic", func(t *testing.T) { formtest.Golden(t, "testdata/traffic.txt", traffics) })
	t.Run("traffic record", func(t *testing.T) { formtest.Golden(t, "testdata/traffic_record.txt", records) })
	t.Run("tokens", func(t *testing.T) { formtest.Golden(t, "testdata/tokens.txt", tokens) })
}

func FuzzWrapRequest(f *testing.F)   { formtest.Fuzz(f, "testdata/wrap_request.txt", wrapRequests) }
func FuzzCheckRequest(f *testing.F)  { formtest.Fuzz(f, "testdata/check_request.txt", checkRequests) }
func FuzzWrapped(f *testing.F)       { formtest.Fuzz(f, "testdata/wrapped.txt", wrappeds) }
func FuzzSpec(f *testing.F)          { formtest.Fuzz(f, "testdata/spec.txt", specs) }
func FuzzRunWith(f *testing.F)       { formtest.Fuzz(f, "testdata/run_with.txt", runWiths) }
func FuzzProxyBind(f *testing.F)     { formtest.Fuzz(f, "testdata/proxy_bind.txt", binds) }
func FuzzProxyBound(f *testing.F)    { formtest.Fuzz(f, "testdata/proxy_bound.txt", bounds) }
func FuzzWires(f *testing.F)         { formtest.Fuzz(f, "testdata/wires.txt", wires) }
func FuzzTraffic(f *testing.F)       { formtest.Fuzz(f, "testdata/traffic.txt", traffics) }
func FuzzTrafficRecord(f *testing.F) { formtest.Fuzz(f, "testdata/traffic_record.txt", records) }
func FuzzTokens(f *testing.F)        { formtest.Fuzz(f, "testdata/tokens.txt", tokens) }
