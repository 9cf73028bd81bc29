package credentials

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/gpurent/terraform-provider-gpurent/internal/atomicfile"
)

const (
	// lockTimeout is how long to wait for another process, which needs milliseconds to change the file.
	lockTimeout       = 10 * time.Second
	lockRetryInterval = 20 * time.Millisecond
)

// Check reports whether Save would work, without changing the file. It creates the folder of the file.
func Check(ctx context.Context, path string) error {
	return stage(ctx, path, func(*File) {}, func(staged, _ string) error { return atomicfile.Remove(staged) })
}

// Save stores a credential in the file at path and makes its base URL the current one. It returns the credentials for
// the same base URL that it replaces. The rest of the file stays. With an error, the file is unchanged.
func Save(ctx context.Context, path, baseURL string, credential Credential) (replaced []Credential, err error) {
	err = update(ctx, path, func(file *File) {
		replaced = file.remove(baseURL, func(Credential) bool { return true })
		if file.Credentials == nil {
			file.Credentials = map[string]Credential{}
		}
		file.Credentials[baseURL], file.Current = credential, baseURL
	})
	if err != nil {
		return nil, err
	}
	return replaced, nil
}

// Forget removes a credential from the file at path. It keeps another key for the same base URL.
func Forget(ctx context.Context, path, baseURL string, credential Credential) error {
	return update(ctx, path, func(file *File) {
		file.remove(baseURL, func(known Credential) bool { return known.APIKey == credential.APIKey })
		if _, found := file.Find(baseURL); !found && Same(file.Current, baseURL) {
			file.Current = ""
		}
	})
}

// update changes the file atomically, even if other processes change it or this process is killed.
func update(ctx context.Context, path string, change func(*File)) error {
	return stage(ctx, path, change, func(staged, file string) error {
		if err := atomicfile.Rename(staged, file); err != nil {
			return errors.Join(fmt.Errorf("replacing the credentials file: %w", err), atomicfile.Remove(staged))
		}
		return nil
	})
}

// stage locks the file, writes the changed content to a new file beside it, and calls finish with both paths.
func stage(
	ctx context.Context, path string, change func(*File), finish func(staged, file string) error,
) error {
	return withLock(ctx, path, func(resolved string) error {
		file, err := Load(resolved)
		if err != nil {
			return err
		}
		change(&file)
		content, err := json.MarshalIndent(file, "", "  ")
		if err != nil {
			return err
		}
		staged := resolved + ".new"
		if err := atomicfile.WriteNew(staged, append(content, '\n'), true); err != nil {
			return fmt.Errorf("writing the credentials file: %w", err)
		}
		return finish(staged, resolved)
	})
}

// withLock calls f with the resolved path while it holds the lock file. It does not remove the lock file: another
// process could wait for the removed one while a third locks a new one.
func withLock(ctx context.Context, path string, f func(file string) error) error {
	file, err := createFolder(path)
	if err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	lock := flock.New(file+".lock", flock.SetPermissions(0o600))
	_, err = lock.TryLockContext(waiting, lockRetryInterval)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the credentials file %s has been locked by another process for %s: end that process and try again",
			path, lockTimeout)
	case err != nil:
		return fmt.Errorf("locking the credentials file: %w", err)
	}
	defer lock.Close()
	return f(file)
}

// createFolder creates the folder of the file and returns the resolved path: if the file is a symbolic link, its target
// is replaced and the link stays.
//
//nolint:gosec // the user chooses the path
func createFolder(path string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("creating the folder of the credentials file: %w", err)
	}
	return resolve(path)
}
