// Package atomicfile reads and replaces a private file while other processes do the same.
package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// On Windows, a file cannot be opened, removed or replaced while another process has it open: readers of this package,
// virus scanners and search indexers keep it open for milliseconds.
const (
	retryFor   = 2 * time.Second
	retryPause = 10 * time.Millisecond
)

// Open opens a file for reading. It never blocks: a named pipe opens at once, and the caller checks what was opened.
func Open(name string) (file *os.File, err error) {
	err = Retry(func() error {
		file, err = os.OpenFile(name, os.O_RDONLY|openFlags, 0)
		return err
	})
	return file, err
}

// ReadFile returns the content of a file. It does not wait for a writer of a named pipe.
func ReadFile(name string) ([]byte, error) {
	file, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

// WriteNew writes a new file that only its owner can read. Whatever is at name is removed first: a process that was
// killed left it there. A symbolic link is removed and not followed. With sync, the content is on the disk on return.
func WriteNew(name string, content []byte, sync bool) error {
	err := Remove(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var file *os.File
	err = Retry(func() error {
		file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	})
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil && sync {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, Remove(name))
	}
	return nil
}

// Remove removes a file.
func Remove(name string) error {
	return Retry(func() error { return os.Remove(name) })
}

// Rename puts a file in the place of another one. A reader sees either the old file or the new one.
func Rename(from, to string) error {
	return Retry(func() error { return os.Rename(from, to) })
}

// Retry calls an operation on a file again, for about two seconds, while another process has the file open. Only
// Windows reports that: elsewhere the operation is called once.
func Retry(operation func() error) error { return retry(operation, inUse) }

func retry(operation func() error, inUse func(error) bool) error {
	for deadline := time.Now().Add(retryFor); ; {
		err := operation()
		if err == nil || !inUse(err) || !time.Now().Before(deadline) {
			return err
		}
		time.Sleep(retryPause) //nolint:forbidigo // it ends after two seconds, and its callers have no context
	}
}
