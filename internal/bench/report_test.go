package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestVerdict(t *testing.T) {
	control := sample{wall: time.Second, cpu: time.Second, peakKB: 1000}
	s := scenario{name: "s", controlProgram: programControl, maxWall: 1.15, maxCPU: 1.5, maxMemory: 2}
	for name, test := range map[string]struct {
		provider sample
		want     string
	}{
		"at the bounds":   {sample{1150 * time.Millisecond, 1500 * time.Millisecond, 2000, 9}, ""},
		"too slow":        {sample{1200 * time.Millisecond, time.Second, 1000, 0}, "s: wall time: 1.20 s / 1.00 s = 1.20"},
		"too much CPU":    {sample{time.Second, 2 * time.Second, 1000, 0}, "CPU time: 2000 ms / 1000 ms = 2.00 > 1.50"},
		"too much memory": {sample{time.Second, time.Second, 3000, 0}, "peak memory: 3 MB / 1 MB = 3.00 > 2.00"},
	} {
		t.Run(name, func(t *testing.T) {
			err := verdict([]row{{s, control, control}, {s, test.provider, control}})
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	limited := scenario{name: "s", servers: 200, limited: true, maxFloor: 1.15}
	slow := sample{wall: 40 * time.Second}
	const want = "s: wall time / floor: 40.00 s / 34.00 s = 1.18 > 1.15"
	if err := verdict([]row{{limited, slow, control}}); err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
	if err := verdict([]row{{scenario{}, sample{wall: time.Hour}, control}}); err != nil {
		t.Errorf("error %v without bounds", err)
	}
}

func TestReadUsage_SeveralProcesses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "usage")
	if err := os.WriteFile(file, []byte("40000000 30000\n60000000 20000\n"), fileMode); err != nil {
		t.Fatal(err)
	}
	cpu, peakKB, err := readUsage(file)
	if err != nil || cpu != 100*time.Millisecond || peakKB != 30000 {
		t.Errorf("%v, %d kB, %v; want the sum and the maximum", cpu, peakKB, err)
	}
}
