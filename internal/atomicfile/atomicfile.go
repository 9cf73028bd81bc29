// Package atomicfile reads and replaces a private file while other processes do the same.
package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// On Windows, a file cannot be opened, removed or replaced while another process has it open. Readers of this package,
// virus scanners and search indexers keep files open for milliseconds.
const (
	retryTimeout  = 2 * time.Second
	retryInterval = 10 * time.Millisecond
)

// Open opens a file for reading. It does not block on a named pipe; the caller checks the type of the opened file.
func Open(name string) (file *os.File, err error) {
	err = Retry(func() error {
		file, err = os.OpenFile(name, os.O_RDONLY|openFlags, 0)
		return err
	})
	return file, err
}

// ReadFile returns the content of a file. It does not block on a named pipe.
func ReadFile(name string) ([]byte, error) {
	file, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

// WriteNew writes a new file that only its owner can read. It first removes an existing file, for example of a process
// that was killed, or a symbolic link, which it does not follow. With sync, it flushes the content to the disk.
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

// Remove removes a file. A missing file is an error.
func Remove(name string) error {
	return Retry(func() error { return os.Remove(name) })
}

// Rename replaces a file by another one. A reader gets either the old content or the new one.
func Rename(from, to string) error {
	return Retry(func() error { return os.Rename(from, to) })
}

// Retry calls an operation on a file, and repeats it for about two seconds while another process has the file open.
// Only Windows reports that: on other systems Retry calls the operation once.
func Retry(operation func() error) error { return retry(operation, inUse) }

func retry(operation func() error, inUse func(error) bool) error {
	for deadline := time.Now().Add(retryTimeout); ; {
		err := operation()
		if err == nil || !inUse(err) || !time.Now().Before(deadline) {
			return err
		}
		time.Sleep(retryInterval) //nolint:forbidigo // at most two seconds, without a context
	}
}
