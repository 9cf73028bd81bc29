package cli

import (
	"context"
	"os"
	"os/exec"
	"runtime"
)

// hasBrowser reports whether the user can probably see a browser on this machine: there is a display, and no SSH
// connection.
func hasBrowser() bool {
	if os.Getenv("SSH_CONNECTION") != "" {
		return false
	}
	return runtime.GOOS == "windows" || runtime.GOOS == "darwin" ||
		os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// openBrowser opens an address that matches safeAddress with the opener of the system. It does not wait for the opener,
// because some run until the browser window is closed.
func openBrowser(ctx context.Context, address string) error {
	name, arguments := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "windows":
		name, arguments = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	case "darwin":
		name = "open"
	}
	opener := exec.CommandContext(context.WithoutCancel(ctx), name, arguments...) //nolint:gosec // no shell, safe address
	if err := opener.Start(); err != nil {
		return err
	}
	go func() { _ = opener.Wait() }() //nolint:errcheck // the address is also on the screen
	return nil
}
