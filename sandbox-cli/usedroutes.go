package cli

import "github.com/lnkhq/lnk-sandbox/sandbox-route"

// usedRoutes says what a sandbox's routes let its program use, a line a route.
func usedRoutes(all []route.Route) []string {
	var lines []string
	for _, r := range all {
		switch k := r.Kind.(type) {
		case route.Secret:
			place := "the header " + k.Header
			if k.Query != "" {
				place = "the query's " + k.Query
			}
			lines = append(lines, "uses the secret of "+k.Host+" in "+place+", and never sees it")
		}
	}
	return lines
}
