package main

import (
	"os"
	"os/user"
	"testing"
)

func TestFindHome(t *testing.T) {
	u, err := user.Current()
	if err != nil || u.HomeDir == "" {
		t.Skip("this user has no home directory: ", err)
	}
	t.Setenv("USERPROFILE", "")
	t.Setenv("HOME", "")
	findHome()
	if home := os.Getenv("HOME"); home != "" {
		t.Errorf("an empty HOME became %q", home)
	}
	os.Unsetenv("USERPROFILE")
	os.Unsetenv("HOME")
	findHome()
	if home, err := os.UserHomeDir(); home != u.HomeDir || err != nil {
		t.Errorf("the home is %q, %v, want %q", home, err, u.HomeDir)
	}
}
