package main

import (
	"os"
	"os/user"
	"path/filepath"
	"runtime"
)

// findHome sets the variable of the home directory if the environment lacks it, from
// the system's list of users. Some editors start an agent with PATH alone, and then neither
// zeph-acp nor git, go and npm in commands would find their files. An empty variable stays.
func findHome() {
	name := "HOME"
	if runtime.GOOS == "windows" {
		name = "USERPROFILE"
	}
	if _, ok := os.LookupEnv(name); ok {
		return
	}
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
		os.Setenv(name, u.HomeDir)
	}
}
