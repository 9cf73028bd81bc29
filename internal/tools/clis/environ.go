package clis

import (
	"os"
	"slices"
	"strings"
)

// Environ is the environment for a CLI, or for tests that start one: this
// process's without anything that would steer the CLI or the provider (a
// developer's own settings must not decide what is tested), and the given
// "NAME=value" on top.
func Environ(extra ...string) []string { return environ(os.Environ(), extra) }

func environ(inherited, extra []string) []string {
	kept := slices.DeleteFunc(slices.Clone(inherited), func(variable string) bool {
		return strings.HasPrefix(variable, "TF_") || strings.HasPrefix(variable, "GPURENT_")
	})
	// No look-up of newer versions: everything runs offline.
	kept = append(kept, "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1")
	return append(kept, extra...)
}
