package cli

import "github.com/lnkhq/lnk-sandbox/sandbox-cli/say"

// Streams are the standard streams of one command.
type Streams = say.Streams

// What package say prints and knows, by the names that this package uses.
const (
	statusFailed  = say.StatusFailed
	statusRefused = say.StatusRefused
	statusSetup   = say.StatusSetup
)

var (
	refuse       = say.Refuse
	setupFailed  = say.SetupFailed
	withStatus   = say.WithStatus
	statusOf     = say.StatusOf
	complain     = say.Complain
	complainLine = say.ComplainLine
	oneLine      = say.OneLine
)
