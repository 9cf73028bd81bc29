// Package testhome keeps tests away from the files of the user who runs them. It does not ship.
package testhome

import (
	"path/filepath"
	"runtime"
	"strings"
)

// Env returns the environment variables of a process with this folder as its user's home: credentials.Path is below it
// on every system. A test that runs the binary, or that calls credentials.Path, sets them.
func Env(folder string) []string {
	return []string{
		"HOME=" + folder,
		"XDG_CONFIG_HOME=" + filepath.Join(folder, ".config"),
		"AppData=" + filepath.Join(folder, "AppData"),
	}
}

// Use sets the variables of Env in this process until the test ends.
func Use(t interface{ Setenv(name, value string) }, folder string) {
	for _, pair := range Env(folder) {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
}

// ConfigDir returns os.UserConfigDir of a process with the environment Env(folder).
func ConfigDir(folder string) string {
	switch runtime.GOOS {
	case "windows":
		return filepath.Join(folder, "AppData")
	case "darwin", "ios":
		return filepath.Join(folder, "Library", "Application Support")
	}
	return filepath.Join(folder, ".config")
}
