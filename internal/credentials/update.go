package credentials

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/gpurent/terraform-provider-gpurent/internal/atomicfile"
)

const (
	// lockPatience is how long another process may hold the file: it takes
	// milliseconds to change it.
	lockPatience = 10 * time.Second
	lockPause    = 20 * time.Millisecond
)

// Check says why a login could not be kept in the file at path: nil means that
// Save is going to work. It makes the file's folder, and changes nothing else.
func Check(ctx context.Context, path string) error {
	same := func(*document) error { return nil }
	return prepare(ctx, path, same, func(staged, _ string) error { return atomicfile.Remove(staged) })
}

// Save keeps a login in the file at path and makes its service the current one. It
// returns the logins at the same base URL that it replaced. All else in the file
// stays. On an error the file is what it was.
func Save(ctx context.Context, path, baseURL string, login Credential) (replaced []Credential, err error) {
	err = update(ctx, path, func(d *document) error {
		replaced, err = d.put(baseURL, login)
		return err
	})
	if err != nil {
		return nil, err
	}
	return replaced, nil
}

// Forget removes a login from the file at path. One that has taken its place
// meanwhile stays.
func Forget(ctx context.Context, path, baseURL string, login Credential) error {
	return update(ctx, path, func(d *document) error {
		d.drop(baseURL, func(known Credential) bool { return known.APIKey == login.APIKey })
		if _, left := d.file.Find(baseURL); left || !Same(d.file.Current, baseURL) {
			return nil
		}
		return d.setCurrent("")
	})
}

// update changes the file whole or not at all, whatever else changes it at the
// same time and whenever this process is killed.
func update(ctx context.Context, path string, change func(*document) error) error {
	return prepare(ctx, path, change, func(staged, place string) error {
		if err := atomicfile.Rename(staged, place); err != nil {
			return errors.Join(fmt.Errorf("replacing the credentials file: %w", err), atomicfile.Remove(staged))
		}
		return nil
	})
}

// prepare writes the changed file beside the one that is there, and hands over both.
func prepare(ctx context.Context, path string, change func(*document) error, finish func(staged, place string) error) error {
	return locked(ctx, path, func(place string) error {
		d, err := read(place)
		if err != nil {
			return err
		}
		if err := change(&d); err != nil {
			return err
		}
		content, err := d.encode()
		if err != nil {
			return err
		}
		staged, err := stage(place, content)
		if err != nil {
			return err
		}
		return finish(staged, place)
	})
}

// locked does the work while no other process does work of the same kind. The lock
// file stays: if it were removed, somebody could be left waiting for the removed one
// while others lock a new one.
func locked(ctx context.Context, path string, work func(place string) error) error {
	place, err := locate(path)
	if err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	lock := flock.New(place+".lock", flock.SetPermissions(0o600))
	_, err = lock.TryLockContext(waiting, lockPause)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the credentials file %s has been locked by another process for %s: end that one, then try again", path, lockPatience)
	case err != nil:
		return fmt.Errorf("locking the credentials file: %w", err)
	}
	defer lock.Close()
	return work(place)
}

// locate finds the place of the file itself, and makes its folder where there is
// none. A link to the file stays a link: what it leads to is what is replaced.
//
//nolint:gosec // whose configuration it is says where it is
func locate(path string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("making the folder of the credentials file: %w", err)
	}
	return resolve(path)
}

// stage writes the file's next content beside it. Only the holder of the lock does so.
func stage(place string, content []byte) (staged string, err error) {
	staged = place + ".new"
	if err := atomicfile.WriteNew(staged, content, true); err != nil {
		return "", fmt.Errorf("writing the credentials file: %w", err)
	}
	return staged, nil
}
