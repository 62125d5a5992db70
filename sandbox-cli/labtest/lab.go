package labtest

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

const (
	roleVariable  = "LNK_LABTEST_ROLE"
	stateVariable = "LNK_LABTEST_STATE"

	roleHost  = "host"
	roleWorld = "world"
	roleTests = "tests"
)

// Addresses of the lab.
const (
	HostAddr     = "203.0.113.1"  // this machine, in the lab
	ServerAddr   = "203.0.113.10" // every server of the world
	OtherAddr    = "203.0.113.20" // a host that no test allows
	resolverAddr = "203.0.113.53"
	LANAddr      = "10.77.0.10" // an address that is not the internet's
)

// Names of the lab, and what they resolve to.
const (
	AllowedName = "allowed.test"
	OtherName   = "other.test"
	LANName     = "lan.test"
	MixedName   = "mixed.test" // one public address and one that is not
)

// Main runs a package's tests inside a lab and gives the exit status. It is all
// that TestMain does.
func Main(m *testing.M) int {
	switch os.Getenv(roleVariable) {
	case roleWorld:
		if err := serveWorld(os.Getenv(stateVariable)); err != nil {
			fmt.Fprintln(os.Stderr, "labtest: world:", err)
			return 1
		}
		return 0
	case roleHost:
		status, err := enterHost(os.Getenv(stateVariable))
		if err != nil {
			fmt.Fprintln(os.Stderr, "labtest: host:", err)
			return 1
		}
		return status
	case roleTests:
		os.Unsetenv(roleVariable)
		return m.Run()
	}
	status, err := again()
	if err != nil {
		fmt.Fprintln(os.Stderr, "labtest:", err)
		return 1
	}
	return status
}

// again starts the test binary once more as the lab's host, and gives its
// status.
func again() (int, error) {
	state, err := os.MkdirTemp("", "lnk-lab-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(state)
	cmd := same(roleHost)
	cmd.Env = append(cmd.Env, stateVariable+"="+state)
	intoNamespaces(cmd)
	err = cmd.Run()
	if cmd.ProcessState == nil {
		return 0, err
	}
	return cmd.ProcessState.ExitCode(), nil
}

// same is this test binary in another role.
func same(role string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd
}
