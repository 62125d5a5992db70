package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// OrdinaryUser is the name of the user that root's tests are run as again.
const OrdinaryUser = "lnk-test"

// lockFile keeps two runs from making and removing the user at once. While the
// user is one that a run has made, its name stands in it: a run that was killed
// leaves the user to the next to remove.
const lockFile = "/run/lnk-test.lock"

// A User is an ordinary user of this machine.
type User struct {
	Name     string
	UID, GID int
	Groups   []int
	Home     string

	made bool // by us: it goes again
	lock *os.File
}

// NewUser gives the ordinary user, making it when it is not there. Only root
// can. Another run that has it is waited for.
func NewUser(ctx context.Context) (*User, error) {
	lock, err := locked(ctx)
	if err != nil {
		return nil, err
	}
	u, err := lookUp(OrdinaryUser)
	var unknown user.UnknownUserError
	if errors.As(err, &unknown) {
		// A home folder and a shell: an ordinary user, not a service.
		add := exec.CommandContext(ctx, "useradd", "--create-home", "--shell", "/bin/bash", OrdinaryUser)
		if out, err := add.CombinedOutput(); err != nil {
			lock.Close()
			return nil, fmt.Errorf("useradd %s: %w: %s", OrdinaryUser, err, out)
		}
		if err = record(lock, OrdinaryUser); err == nil {
			u, err = lookUp(OrdinaryUser)
		}
	}
	if err != nil {
		lock.Close()
		return nil, err
	}
	if u.UID == 0 {
		lock.Close()
		return nil, fmt.Errorf("%s: it is root by another name", OrdinaryUser)
	}
	u.lock = lock
	u.made = recorded(lock) == OrdinaryUser
	return u, nil
}

// record writes down which user was made; "" is none.
func record(lock *os.File, name string) error {
	if err := lock.Truncate(0); err != nil {
		return err
	}
	_, err := lock.WriteAt([]byte(name), 0)
	return err
}

// recorded reads which user was made.
func recorded(lock *os.File) string {
	text := make([]byte, 64)
	n, _ := lock.ReadAt(text, 0) // the end comes before 64 bytes do
	return string(text[:n])
}

// Remove removes the user, if NewUser made it. No process of its may be left.
func (u *User) Remove() error {
	defer u.lock.Close()
	if !u.made {
		return nil
	}
	if out, err := exec.Command("userdel", "--remove", u.Name).CombinedOutput(); err != nil {
		return fmt.Errorf("userdel %s: %w: %s", u.Name, err, out)
	}
	return record(u.lock, "")
}

// locked takes the lock, waiting while ctx lasts.
func locked(ctx context.Context) (*os.File, error) {
	file, err := os.OpenFile(lockFile, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	taken := make(chan error, 1)
	go func() { taken <- syscall.Flock(int(file.Fd()), syscall.LOCK_EX) }()
	select {
	case err = <-taken:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: another run of the tests has it: %w", lockFile, err)
	}
	return file, nil
}

// lookUp reads who a user is.
func lookUp(name string) (*User, error) {
	found, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	u := &User{Name: name, Home: found.HomeDir}
	if u.UID, err = strconv.Atoi(found.Uid); err != nil {
		return nil, err
	}
	if u.GID, err = strconv.Atoi(found.Gid); err != nil {
		return nil, err
	}
	groups, err := found.GroupIds()
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		gid, err := strconv.Atoi(g)
		if err != nil {
			return nil, err
		}
		u.Groups = append(u.Groups, gid)
	}
	return u, nil
}

// Environment is what the user would have after logging in, and nothing of ours.
func (u *User) Environment() []string {
	return []string{
		"HOME=" + u.Home,
		"LANG=C.UTF-8",
		"LOGNAME=" + u.Name,
		"PATH=/usr/local/bin:/usr/bin:/bin",
		"SHELL=/bin/bash",
		"USER=" + u.Name,
	}
}
