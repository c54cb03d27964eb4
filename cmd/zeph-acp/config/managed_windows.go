package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"golang.org/x/sys/windows"
)

// ManagedPath returns the path of the managed file on this system. It does not depend
// on the environment, which users can set.
func ManagedPath() string {
	dir, err := windows.KnownFolderPath(windows.FOLDERID_ProgramData, windows.KF_FLAG_DEFAULT)
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "zeph-acp", "managed.toml")
}

// administrators are the accounts that may own and write the file: SYSTEM, the
// administrators and the installer of Windows.
var administrators = []string{"S-1-5-18", "S-1-5-32-544", "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"}

// writeRights are the rights with which an account can change or replace a file.
const writeRights = windows.GENERIC_ALL | windows.GENERIC_WRITE |
	windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA |
	windows.DELETE | windows.WRITE_DAC | windows.WRITE_OWNER

// rights are the parts of a security descriptor that protected looks at.
const rights = windows.OWNER_SECURITY_INFORMATION | windows.DACL_SECURITY_INFORMATION

// protected returns an error if anyone but administrators, or owner, can write the
// file.
func protected(f *os.File, owner string) error {
	sd, err := windows.GetSecurityInfo(windows.Handle(f.Fd()), windows.SE_FILE_OBJECT, rights)
	if err != nil {
		return fmt.Errorf("its owner is unknown: %w", err)
	}
	return administratorsOwn("it", sd, owner)
}

// protectedDir is protected for the directory of zeph-acp. The directories above it
// belong to the system.
func protectedDir(dir, owner string) error {
	if filepath.Base(dir) != "zeph-acp" {
		return nil
	}
	sd, err := windows.GetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT, rights)
	if err != nil {
		return fmt.Errorf("the owner of %s is unknown: %w", dir, err)
	}
	return administratorsOwn("its directory "+dir, sd, owner)
}

func administratorsOwn(name string, sd *windows.SECURITY_DESCRIPTOR, owner string) error {
	trusted := append(slices.Clone(administrators), owner)
	sid, _, err := sd.Owner()
	if err != nil {
		return fmt.Errorf("the owner of %s is unknown: %w", name, err)
	}
	if !slices.Contains(trusted, sid.String()) {
		return fmt.Errorf("%s belongs to %s: only administrators may own it", name, sid)
	}
	acl, _, err := sd.DACL()
	if err != nil || acl == nil {
		return fmt.Errorf("%s is writable by every user", name)
	}
	for i := range uint32(acl.AceCount) {
		var ace *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(acl, i, &ace); err != nil {
			return err
		}
		if ace.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE || ace.Header.AceFlags&windows.INHERIT_ONLY_ACE != 0 ||
			ace.Mask&writeRights == 0 {
			continue
		}
		if who := (*windows.SID)(unsafe.Pointer(&ace.SidStart)).String(); !slices.Contains(trusted, who) {
			return fmt.Errorf("%s is writable by %s: only administrators may write it", name, who)
		}
	}
	return nil
}
