package clis

import (
	"os"
	"slices"
	"strings"
)

// Environ returns the environment for a CLI, or for tests that start one: the environment of this process, without
// variables that configure the CLI or the provider, and with the given "NAME=value" variables. The settings of a
// developer must not change the tests.
func Environ(extra ...string) []string { return environ(os.Environ(), extra) }

func environ(inherited, extra []string) []string {
	kept := slices.DeleteFunc(slices.Clone(inherited), func(variable string) bool {
		return strings.HasPrefix(variable, "TF_") || strings.HasPrefix(variable, "GPURENT_")
	})
	// Without a check for new versions: everything runs offline.
	kept = append(kept, "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1")
	return append(kept, extra...)
}
