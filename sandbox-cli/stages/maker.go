package stages

// makerFlag has bubblewrap make the sandbox, though the kernel may let us.
const makerFlag = "--bubblewrap"

// MakerArgs are the arguments that say who makes the sandbox, right behind the
// wall's settings and home.
func MakerArgs(bubblewrap bool) []string {
	if bubblewrap {
		return []string{makerFlag}
	}
	return nil
}

func parseMaker(args []string) (bubblewrap bool, rest []string) {
	if len(args) > 0 && args[0] == makerFlag {
		return true, args[1:]
	}
	return false, args
}
