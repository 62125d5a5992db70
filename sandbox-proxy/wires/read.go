package wires

import (
	client "github.com/lnkhq/lnk-sandbox/sandbox-client"
	proxy "github.com/lnkhq/lnk-sandbox/sandbox-proxy"
)

// unreadable is what the program is told: the settings' path is none of its
// business.
const unreadable = "what the owner says of it cannot be read"

// Of gives what reads a sandbox's wire afresh. One that cannot be read is
// stopped.
func Of(s client.SettingsFolder, sandbox string) func() proxy.Wire {
	flags, named := s.Flags(sandbox)
	return func() proxy.Wire {
		w, err := flags.Read()
		if named != nil || err != nil {
			return proxy.Wire{Stopped: true, Why: unreadable}
		}
		return proxy.Wire{Stopped: w.Stopped, Paused: w.Paused, Why: w.Why}
	}
}
