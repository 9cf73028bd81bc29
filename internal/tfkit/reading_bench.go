//go:build bench

package tfkit

import (
	"cmp"
	"os"
)

var reading = cmp.Or(os.Getenv("GPURENT_BENCH_READS"), readShared)
