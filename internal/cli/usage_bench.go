//go:build bench

package cli

import (
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"syscall"
	"time"
)

var peak = regexp.MustCompile(`(?m)^VmHWM:\s+(\d+) kB$`)

// reportUsage appends what this process has used of the machine to the file
// that the environment names. The peak is the kernel's own of this program: the
// one of getrusage includes the CLI that it was forked from.
func reportUsage() error {
	name := os.Getenv("GPURENT_BENCH_USAGE")
	if name == "" {
		return nil
	}
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	kilobytes := 0
	if found := peak.FindSubmatch(status); found != nil {
		kilobytes, _ = strconv.Atoi(string(found[1])) //nolint:errcheck // digits
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // who starts this build names it
	if err != nil {
		return err
	}
	defer file.Close()
	return json.NewEncoder(file).Encode(map[string]any{
		"cpu_ms":  (time.Duration(used.Utime.Nano()) + time.Duration(used.Stime.Nano())).Milliseconds(),
		"peak_kb": kilobytes,
	})
}
