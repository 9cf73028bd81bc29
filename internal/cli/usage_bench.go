//go:build bench

package cli

import (
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"runtime/pprof"
	"strconv"
	"syscall"
	"time"
)

var peak = regexp.MustCompile(`(?m)^VmHWM:\s+(\d+) kB$`)

// measure begins to note what this process uses of the machine; the function that
// it returns writes that down. A CPU profile goes to the file that the environment
// names, and a heap profile beside it.
func measure() (report func() error) {
	name := os.Getenv("GPURENT_BENCH_PROFILE")
	if name == "" {
		return reportUsage
	}
	name += "." + strconv.Itoa(os.Getpid())
	cpu, err := os.Create(name + ".cpu") //nolint:gosec // who starts this build names it
	if err == nil {
		err = pprof.StartCPUProfile(cpu)
	}
	return func() error {
		pprof.StopCPUProfile()
		heap, heapErr := os.Create(name + ".heap") //nolint:gosec // as above
		if heapErr == nil {
			heapErr = pprof.WriteHeapProfile(heap)
		}
		return errors.Join(err, heapErr, cpu.Close(), heap.Close(), reportUsage())
	}
}

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
