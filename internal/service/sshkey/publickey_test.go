package sshkey

import (
	"strings"
	"testing"
)

const (
	line        = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKJLu/BJj6IuH3Ssli37zXUHMHdBfD153tGyfACAryQ8"
	fingerprint = "SHA256:8v26jgbNH2fLJxQMdNeAZ5MTwnOj+VNV2xs8TocK1Mo"
)

func TestCanonical(t *testing.T) {
	for _, input := range []string{fingerprint, strings.TrimPrefix(fingerprint, "SHA256:"), fingerprint + "="} {
		if got := canonical(input); got != fingerprint {
			t.Errorf("canonical(%q) = %q, want %q", input, got, fingerprint)
		}
	}
}
