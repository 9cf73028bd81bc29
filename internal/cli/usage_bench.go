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

// measureUsage starts to measure this process. report writes the CPU time and the peak memory. If GPURENT_BENCH_PROFILE
// is set, it also writes a CPU profile and a heap profile to files with that prefix.
func measureUsage() (report func() error) {
	name := os.Getenv("GPURENT_BENCH_PROFILE")
	if name == "" {
		return reportUsage
	}
	name += "." + strconv.Itoa(os.Getpid())
	cpu, err := os.Create(name + ".cpu") //nolint:gosec // path from the benchmark
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

// reportUsage appends the CPU time and the peak memory to the file in GPURENT_BENCH_USAGE. The peak comes from
// /proc/self/status, because that of getrusage includes the CLI that forked this process.
func reportUsage() error {
	name := os.Getenv("GPURENT_BENCH_USAGE")
	if name == "" {
		return nil
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
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
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // path from the benchmark
	if err != nil {
		return err
	}
	defer file.Close()
	return json.NewEncoder(file).Encode(map[string]any{
		"cpu_ms":  (time.Duration(usage.Utime.Nano()) + time.Duration(usage.Stime.Nano())).Milliseconds(),
		"peak_kb": kilobytes,
	})
}
