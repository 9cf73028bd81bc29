// Package testenv gives tests what they need from the machine, and keeps them away from the files of the user who runs
// them. It does not ship.
package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Program returns the path of the first of the programs that PATH has. Without any, the test is skipped; in CI, with
// the variable CI set, it fails on Linux, where .ci/run and the workflows install every program.
func Program(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") != "" && runtime.GOOS == "linux" {
		t.Fatalf("CI needs one of %v", names)
	}
	t.Skipf("the test needs one of %v", names)
	return ""
}

// Browser returns the path of Chromium or Chrome, as Program does.
func Browser(t testing.TB) string {
	t.Helper()
	return Program(t, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
}

// Home returns the environment variables of a process with this folder as its user's home: credentials.Path is below
// it on every system.
func Home(folder string) []string {
	return []string{
		"HOME=" + folder,
		"XDG_CONFIG_HOME=" + filepath.Join(folder, ".config"),
		"AppData=" + filepath.Join(folder, "AppData"),
	}
}

// SetHome sets the variables of Home in this process until the test ends.
func SetHome(t testing.TB, folder string) {
	t.Helper()
	for _, pair := range Home(folder) {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
}

// ConfigDir returns os.UserConfigDir of a process with the environment of Home(folder).
func ConfigDir(folder string) string {
	switch runtime.GOOS {
	case "windows":
		return filepath.Join(folder, "AppData")
	case "darwin", "ios":
		return filepath.Join(folder, "Library", "Application Support")
	}
	return filepath.Join(folder, ".config")
}
