package cli

import (
	"context"
	"os"
	"os/exec"
	"runtime"
)

// browserHere says whether a browser can be expected to open where the user sees it:
// not at the other end of an SSH connection, and not without a display.
func browserHere() bool {
	if os.Getenv("SSH_CONNECTION") != "" {
		return false
	}
	return runtime.GOOS == "windows" || runtime.GOOS == "darwin" || os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// openBrowser opens an address that is harmless, with what each system has for that. It
// does not wait: some browsers end when their window is closed.
func openBrowser(ctx context.Context, address string) error {
	name, arguments := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "windows":
		name, arguments = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	case "darwin":
		name = "open"
	}
	opener := exec.CommandContext(context.WithoutCancel(ctx), name, arguments...) //nolint:gosec // no shell, and the address is harmless
	if err := opener.Start(); err != nil {
		return err
	}
	go func() { _ = opener.Wait() }() //nolint:errcheck // what comes of it is seen in the browser
	return nil
}
