package cli

import (
	"maps"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes/carry"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes/secret"
)

// routeKinds are the kinds of routes that are served, each by its maker.
func routeKinds() routes.Kinds {
	all := routes.Kinds{}
	for _, some := range []routes.Kinds{
		carry.Kinds(), // model, local_model, bridge
		{"secret": secret.New},
	} {
		maps.Copy(all, some)
	}
	return all
}
