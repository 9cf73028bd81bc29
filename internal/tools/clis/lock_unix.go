//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package clis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

const (
	lockMode  = 0o644
	lockRetry = 500 * time.Millisecond // pause between two looks at a lock that another process holds
)

// lock takes the lock that the file stands for, waiting until it is free or the
// context ends; closing it gives it up. The system gives it up too when the
// process dies, so no lock is ever left behind.
func lock(ctx context.Context, file string) (held io.Closer, err error) {
	handle, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, lockMode)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, handle.Close())
		}
	}()
	retry := time.NewTicker(lockRetry)
	defer retry.Stop()
	for {
		err := syscall.Flock(int(handle.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return handle, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, fmt.Errorf("locking %s: %w", file, err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for another build: %w", context.Cause(ctx))
		case <-retry.C:
		}
	}
}
