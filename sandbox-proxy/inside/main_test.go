//go:build linux

package inside

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// self is the test binary, which plays every process of a start.
const self = "/proc/self/exe"

// hang ends a test that would wait for ever.
const hang = 60 * time.Second

// ordinary is a uid and gid that nobody has.
const ordinary = 61234

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if play, ok := roles()[os.Args[1]]; ok {
			if err := play(os.Args[2:]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(125)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

func roles() map[string]func([]string) error {
	return map[string]func([]string) error{
		"stage":   stage,
		"hand":    handing,
		"hand-4":  handingWithoutIPv6,
		"fibber":  fibber,
		"stage-4": stageWithoutIPv6,
		"thread":  stageOnAnotherThread,
		"threads": threads,
		"tabled":  stageWithATable,
		"used":    stageInUse,
		"probe":   probe,
		"outer":   outer,
		"liar":    liar,
		"tamper":  tamper,
		"forbid":  forbid,
		"stayer":  stayer,
	}
}

// stage is what proxy-inside does.
func stage(args []string) error {
	fd, want, argv, err := ParseFlags(args)
	if err != nil {
		return err
	}
	if err := Enter(fd, want); err != nil {
		return err
	}
	return unix.Exec(argv[0], argv, os.Environ())
}

// stageWithoutIPv6 is stage where the kernel gives no IPv6.
func stageWithoutIPv6(args []string) error {
	if err := withoutIPv6(); err != nil {
		return err
	}
	return stage(args)
}

func withoutIPv6() error {
	for _, of := range []string{"all", "default", "lo"} {
		if err := os.WriteFile("/proc/sys/net/ipv6/conf/"+of+"/disable_ipv6", []byte("1"), 0); err != nil {
			return err
		}
	}
	return nil
}

// stageOnAnotherThread is stage as a runtime may run it: by a thread that the
// process did not start with.
func stageOnAnotherThread(args []string) error {
	runtime.LockOSThread() // the first thread is this goroutine's
	failed := make(chan error)
	go func() { failed <- stage(args) }()
	return <-failed
}

// threads prints what each thread is left with.
func threads(args []string) error {
	fd, want, _, err := ParseFlags(args)
	if err != nil {
		return err
	}
	// More threads than the runtime would have by itself.
	for range 5 {
		go func() {
			runtime.LockOSThread()
			time.Sleep(time.Hour)
		}()
	}
	time.Sleep(10 * time.Millisecond)
	if err := Enter(fd, want); err != nil {
		return err
	}
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, task := range tasks {
		if withCgo && task.Name() != strconv.Itoa(unix.Gettid()) {
			continue
		}
		b, err := os.ReadFile("/proc/self/task/" + task.Name() + "/status")
		if err != nil {
			return err
		}
		fmt.Println(capabilities(string(b)))
	}
	return nil
}

// stageWithATable is stage where rules are that nobody asked for.
func stageWithATable(args []string) error {
	other := request{kind: nftables | unix.NFT_MSG_NEWTABLE, flag: nlmCreate,
		body: concat(generic(unix.NFPROTO_IPV4, 0), attribute(unix.NFTA_TABLE_NAME, text("other")...))}
	if got := probeNFT(other); got != "ok" {
		return errors.New(got)
	}
	return stage(args)
}

// stageInUse is stage in a namespace where loopback is up already.
func stageInUse(args []string) error {
	k, err := ours{}.netlink(unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer k.close()
	up := answers{of: linkRequests()[:1]}
	if err := k.exchange(marshal(up.of), up.read, &up.done); err != nil {
		return err
	}
	return stage(args)
}

// TestAsOrdinaryUser runs the whole suite again as one. The kernel lets root do
// what it refuses to others, so a suite that ran as root alone would prove half.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Getuid() != 0 || withRace {
		return // this is that run, or there is no other user to be
	}
	args := []string{"-test.count=1", "-test.timeout=9m"}
	if testing.Verbose() {
		args = append(args, "-test.v")
	}
	cmd := exec.Command(self, args...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=/tmp"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
	out, err := cmd.CombinedOutput()
	if testing.Verbose() || err != nil {
		t.Logf("as uid %d:\n%s", ordinary, out)
	}
	if err != nil {
		t.Error(err)
	}
}
