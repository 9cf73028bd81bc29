//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package clis

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

func TestLockIsExclusiveAndItsWaitCanBeCancelled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	first, err := lock(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lock(ctx, file); !errors.Is(err, context.Canceled) {
		t.Errorf("second lock: %v, want the cancellation", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := lock(t.Context(), file)
	if err != nil {
		t.Fatal("a lock that was given up cannot be taken:", err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
}
