package stages

import (
	"errors"
	"fmt"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
	"github.com/lnkhq/lnk-sandbox/sandbox-wall-linux/launch"
)

// coversStay gives what watches that a plan's covers stay where they are: the
// kernel takes one away when what it covers is replaced from outside, and lets one
// go along when that is renamed. It could not be put back from here, so the run
// ends.
func coversStay(plan *linuxwall.Plan) func(mountinfo string) error {
	var covers *linuxwall.Covers
	return func(mountinfo string) error {
		if covers == nil {
			found, missing := plan.Covers(mountinfo)
			if len(missing) > 0 {
				return fmt.Errorf("%s: %w", missing[0], linuxwall.ErrChanged)
			}
			covers = &found
			return nil
		}
		if gone := covers.Gone(mountinfo); len(gone) > 0 {
			return fmt.Errorf("%s was replaced, renamed or removed from outside, which takes its protection away: run it again", gone[0])
		}
		return nil
	}
}

// changedMeanwhile takes a start that failed for one that met a change, where
// something is no longer what the plan was made for: it can be tried again.
func changedMeanwhile(plan *linuxwall.Plan, err error) error {
	var e *launch.Error
	if !errors.As(err, &e) || e.Status != launch.StatusSetup || errors.Is(err, linuxwall.ErrChanged) {
		return err
	}
	if stale := plan.Stale(); stale != nil {
		return fmt.Errorf("%w: %w", stale, err)
	}
	return err
}
