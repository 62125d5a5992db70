package launch

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	linuxwall "github.com/lnkhq/lnk-sandbox/sandbox-wall-linux"
)

// look looks for the program where it will be looked for, inside, before it is
// started: then what is wrong is said in one line of ours. It sees through the
// root of the sandbox's first process. What it cannot tell it lets pass, and
// bubblewrap says.
func (b *sandbox) look() *Error {
	first := b.first()
	if first == 0 {
		return nil // bubblewrap has ended
	}
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/root", first), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	root := insideRoot(fd)
	dir := b.spec.dir()
	if dir != "" {
		if d, err := root.open(dir, unix.O_PATH|unix.O_DIRECTORY); err == nil {
			unix.Close(d)
		} else if err == unix.ENOENT || err == unix.ENOTDIR {
			return setupError("the sandbox could not be set up", fmt.Errorf("the folder to start in, %s, is not there inside", dir))
		}
	}
	searched, set := b.spec.env("PATH")
	found := root.find(b.spec.Argv[0], candidates(b.spec.Argv[0], searched, set, dir))
	if found != nil && found.Status == StatusCannot && b.spec.restricted() && !errors.Is(found.Err, errBadInterpreter) {
		found.Err = ErrNotNamed
	}
	return found
}

type insideRoot int

// open resolves a path inside: links in it, too, stay inside.
func (r insideRoot) open(at string, flags uint64) (int, error) {
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT}
	return unix.Openat2(int(r), at, &how)
}

// find goes by execvp(3): what is not there is passed over, what may not be
// executed is remembered, and the first that can be is it.
func (r insideRoot) find(name string, files []string) *Error {
	if len(files) == 0 {
		return nil // relative to what cannot be known
	}
	var cannot error
	for _, file := range files {
		switch err := r.executable(file); {
		case err == nil:
			return nil
		case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR):
		case errors.Is(err, errBadInterpreter):
			return &Error{StatusCannot, name, err}
		default:
			cannot = err
		}
	}
	if cannot != nil {
		return &Error{StatusCannot, name, cannot}
	}
	return &Error{StatusNotFound, name, errors.New("not found inside the sandbox")}
}

var errBadInterpreter = errors.New("a script whose interpreter is not there")

// executable says why a file inside cannot be executed. Nil is also what cannot
// be told.
func (r insideRoot) executable(file string) error {
	fd, err := r.open(file, unix.O_PATH)
	switch err {
	case nil:
	case unix.ENOENT, unix.ENOTDIR:
		return err
	case unix.EACCES:
		return errors.New("may not be executed")
	default:
		return nil
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		return errors.New("is a folder")
	default:
		return errors.New("is no file to be executed")
	}
	if unix.Faccessat2(fd, "", unix.X_OK, unix.AT_EMPTY_PATH|unix.AT_EACCESS) == unix.EACCES {
		return errors.New("may not be executed")
	}
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) == nil && fs.Flags&unix.ST_NOEXEC != 0 {
		return errors.New("lies where nothing may be executed")
	}
	return r.interpreted(file)
}

func (r insideRoot) interpreted(file string) error {
	fd, err := r.open(file, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	head := make([]byte, linuxwall.HeadSize)
	n, err := unix.Pread(fd, head, 0)
	if err != nil {
		return nil
	}
	by := interpreter(head[:n])
	if !path.IsAbs(by) {
		return nil
	}
	i, err := r.open(by, unix.O_PATH)
	if err == unix.ENOENT || err == unix.ENOTDIR {
		if strings.HasSuffix(by, "\r") {
			return fmt.Errorf("%w: %s, since its lines end as on Windows", errBadInterpreter, by)
		}
		return fmt.Errorf("%w: %s", errBadInterpreter, by)
	}
	if err == nil {
		unix.Close(i)
	}
	return nil
}
