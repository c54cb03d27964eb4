package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall" // Landlock's calls; its rules by path would follow links
	"golang.org/x/sys/unix"
)

// Rights, as Landlock calls them. The right to list directories is not
// restricted: only contents are secret, not names.
const (
	mayRead  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE
	mayWrite = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REFER
	// A device node that a command of root creates would give access to a disk,
	// regardless of the rules.
	mayMakeDevice = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
	mayControl    = unix.LANDLOCK_ACCESS_FS_IOCTL_DEV

	// fileRights are the rights that apply to files other than directories.
	fileRights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE |
		unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// bypassCapabilities are the capabilities of root that bypass Landlock. They give access to
// the memory of other processes, which holds keys, to raw disks, or to the kernel.
var bypassCapabilities = []uintptr{
	unix.CAP_SYS_ADMIN, unix.CAP_SYS_PTRACE, unix.CAP_PERFMON, unix.CAP_SYS_RAWIO, unix.CAP_MKNOD,
	unix.CAP_SYS_MODULE, unix.CAP_SYS_BOOT, unix.CAP_BPF, unix.CAP_MAC_ADMIN, unix.CAP_MAC_OVERRIDE, unix.CAP_SYSLOG,
}

// dropCapabilities removes capabilities of this thread and of the programs that
// it executes. Linux resets the parent-death signal when a program starts with
// fewer capabilities than before, so they are dropped first.
func dropCapabilities(list []uintptr) error {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData
	if err := unix.Capget(&hdr, &caps[0]); err != nil {
		return fmt.Errorf("read the capabilities: %w", err)
	}
	had := caps
	for _, c := range list {
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) // fails only for a thread that lacks the capability
		bit := uint32(1) << (c % 32)
		caps[c/32].Effective &^= bit
		caps[c/32].Permitted &^= bit
		caps[c/32].Inheritable &^= bit
	}
	if caps == had {
		return nil
	}
	if err := unix.Capset(&hdr, &caps[0]); err != nil {
		return fmt.Errorf("drop the capabilities: %w", err)
	}
	return nil
}

// keepCapabilities drops all capabilities of this thread except these.
func keepCapabilities(keep []uintptr) error {
	var dropped []uintptr
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if !slices.Contains(keep, c) {
			dropped = append(dropped, c)
		}
	}
	return dropCapabilities(dropped)
}

// newRules returns rules without grants, for the rights that require one.
func newRules(abi int, network bool) *rules {
	r := &rules{FS: mayRead | mayWrite | mayMakeDevice | mayControl, NoTCP: !network}
	if abi < abiRefer {
		r.FS &^= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi < abiTruncate {
		r.FS &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi < abiIoctl {
		r.FS &^= mayControl
	}
	if !network && abi >= abiTCP {
		r.Net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if !network && abi >= abiUDP {
		r.Net |= unix.LANDLOCK_ACCESS_NET_BIND_UDP | unix.LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP
	}
	if abi >= abiScope {
		r.Scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	return r
}

// Available returns the ABI of the kernel's Landlock; 0 comes with the reason
// why there is none.
func Available() (abi int, reason string) {
	abi, err := ll.LandlockGetABIVersion()
	switch {
	case errors.Is(err, unix.ENOSYS):
		return 0, "this kernel has no Landlock (Linux 5.13 and later, CONFIG_SECURITY_LANDLOCK)"
	case errors.Is(err, unix.EOPNOTSUPP):
		return 0, "Landlock is switched off; the kernel's parameter lsm= must name it"
	case err != nil:
		return 0, fmt.Sprintf("Landlock cannot be used here: %v", err)
	}
	return abi, ""
}

// restrict removes all rights that r does not grant from this thread and from
// the programs that it executes. The thread must be locked.
func (r *rules) restrict() error {
	if err := dropCapabilities(bypassCapabilities); err != nil {
		return err
	}
	if err := r.enforce(); err != nil {
		return err
	}
	if r.NoTCP {
		return refuseStreams()
	}
	return nil
}

// enforce makes Landlock deny this thread all rights that r does not grant.
func (r *rules) enforce() error {
	ruleset, err := ll.LandlockCreateRuleset(&ll.RulesetAttr{HandledAccessFS: r.FS, HandledAccessNet: r.Net, Scoped: r.Scoped}, 0)
	if err != nil {
		return fmt.Errorf("make a Landlock ruleset: %w", err)
	}
	defer unix.Close(ruleset)
	for _, g := range r.Grants {
		if err := g.add(ruleset, r.FS); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("disable new privileges: %w", err)
	}
	if err := ll.LandlockRestrictSelf(ruleset, 0); err != nil {
		return fmt.Errorf("enforce the Landlock ruleset: %w", err)
	}
	return nil
}

// add adds the rules of one grant. It skips files that no longer exist or were
// replaced.
func (g grant) add(ruleset int, handled uint64) error {
	dir, err := openDir(string(g.Dir), unix.O_PATH)
	if err != nil {
		return ignoreGone(string(g.Dir), err)
	}
	defer unix.Close(dir)
	for _, e := range g.Names {
		if err := e.add(ruleset, dir, g.Rights&handled); err != nil {
			return fmt.Errorf("%s/%s: %w", g.Dir, e.Name, err)
		}
	}
	return nil
}

// add adds the rule of one entry. It skips an entry that no longer exists or was replaced.
func (e entry) add(ruleset, dir int, right uint64) error {
	fd, err := unix.Openat(dir, string(e.Name), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return ignoreGone(string(e.Name), err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if fileIDOf(&st) != e.ID || st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return nil
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		right &= fileRights
	}
	if right == 0 {
		return nil
	}
	err = ll.LandlockAddPathBeneathRule(ruleset, &ll.PathBeneathAttr{AllowedAccess: right, ParentFd: fd}, 0)
	if errors.Is(err, unix.EBADFD) { // files of the kernel itself, such as a pipe, are never restricted
		return nil
	}
	if err != nil {
		return fmt.Errorf("add a Landlock rule: %w", err)
	}
	return nil
}

// ignoreGone ignores errors for files that no longer exist: a missing grant only
// restricts more.
func ignoreGone(name string, err error) error {
	for _, gone := range []error{unix.ENOENT, unix.ENOTDIR, unix.ELOOP, unix.EACCES, unix.EPERM, unix.ENXIO, unix.ENODEV, unix.ESTALE, unix.EAGAIN, unix.EIO, unix.ENOTCONN} {
		if errors.Is(err, gone) {
			return nil
		}
	}
	return fmt.Errorf("open %s: %w", name, err)
}

// openDir opens a directory without following links.
func openDir(path string, mode uint64) (int, error) {
	how := unix.OpenHow{Flags: mode | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	for {
		fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
		if err != syscall.EINTR {
			return fd, err
		}
	}
}

func fileIDOf(st *unix.Stat_t) fileID { return fileID{uint64(st.Dev), st.Ino} }
