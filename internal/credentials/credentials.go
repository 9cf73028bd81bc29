// Package credentials keeps the file that holds a user's API keys:
// credentials.json in the gpurent folder of the user's configuration.
package credentials

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/atomicfile"
)

// File is the content of the credentials file. The zero value is an empty file.
type File struct {
	// Current is the base URL to use where none is given. Empty for none.
	Current string `json:"current,omitempty"`
	// Credentials are the keys by base URL.
	Credentials map[string]Credential `json:"credentials,omitempty"`
}

// Credential is one API key.
type Credential struct {
	// APIKey is the secret key.
	APIKey string `json:"api_key"`
	// KeyID identifies the key for its revocation. Empty when unknown.
	KeyID string `json:"key_id,omitempty"`
}

// String leaves the key out.
func (c Credential) String() string { return "credential " + c.KeyID }

// GoString is String: %#v must not print the key either.
func (c Credential) GoString() string { return c.String() }

// Path is where the file is: under XDG_CONFIG_HOME on Unix, Application Support
// on macOS, AppData on Windows.
func Path() (string, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("finding the user's configuration folder: %w", err)
	}
	return filepath.Join(folder, "gpurent", "credentials.json"), nil
}

// largest is the size, in bytes, of a file that can be one of ours.
const largest = 1 << 20

// Load reads the file at path. A missing file is an empty one. On Unix, Load refuses a file that belongs to another
// user or that others can read, and a file in a folder where others can replace it.
func Load(path string) (File, error) {
	d, err := read(path)
	if err != nil {
		return File{}, err
	}
	return d.file, nil
}

// read reads the file with all that is in it. It checks what it has opened: the file at path can change meanwhile.
func read(path string) (document, error) {
	file, err := atomicfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return document{}, nil
	}
	if err != nil {
		return document{}, fmt.Errorf("reading the credentials file: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return document{}, fmt.Errorf("reading the credentials file: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > largest {
		return document{}, fmt.Errorf("the credentials file %s is not a file of keys: remove it", path)
	}
	if err := checkFile(path, info, os.Geteuid()); err != nil {
		return document{}, err
	}
	if _, err := resolve(path); err != nil {
		return document{}, err
	}
	content, err := io.ReadAll(io.LimitReader(file, largest+1))
	if err != nil {
		return document{}, fmt.Errorf("reading the credentials file: %w", err)
	}
	d, err := parse(content)
	if err != nil {
		return document{}, fmt.Errorf("the credentials file %s %w", path, err)
	}
	return d, nil
}

// resolve returns the path of the file itself, which differs from path when the file or its folder is a symbolic link.
// It checks the folder at path and the folder of the file itself: who can change either can replace the file.
func resolve(path string) (place string, err error) {
	folder, err := realPath(filepath.Dir(path))
	if err != nil {
		return "", fmt.Errorf("finding the folder of the credentials file: %w", err)
	}
	if err := checkFolderAt(folder); err != nil {
		return "", err
	}
	place = filepath.Join(folder, filepath.Base(path))
	if _, err := os.Lstat(place); errors.Is(err, fs.ErrNotExist) {
		return place, nil
	}
	place, err = realPath(place)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the credentials file %s is a link that leads nowhere: remove it, or make what it leads to", path)
	}
	if err != nil {
		return "", fmt.Errorf("finding the credentials file: %w", err)
	}
	if filepath.Dir(place) == folder {
		return place, nil
	}
	return place, checkFolderAt(filepath.Dir(place))
}

func checkFolderAt(folder string) error {
	info, err := os.Stat(folder) //nolint:gosec // the user decides where the file is
	if err != nil {
		return fmt.Errorf("finding the folder of the credentials file: %w", err)
	}
	return checkFolder(folder, info, os.Geteuid())
}

// realPath is filepath.EvalSymlinks, which on Windows can fail while another process replaces the file.
func realPath(path string) (place string, err error) {
	err = atomicfile.Retry(func() error {
		place, err = filepath.EvalSymlinks(path)
		return err
	})
	return place, err
}

// Key returns the key for a base URL, empty for none.
func (f File) Key(baseURL string) string {
	found, _ := f.Find(baseURL)
	return found.APIKey
}

// Find returns the login at a base URL, as Same compares them.
func (f File) Find(baseURL string) (Credential, bool) {
	if exact, ok := f.Credentials[baseURL]; ok {
		return exact, true
	}
	for _, known := range slices.Sorted(maps.Keys(f.Credentials)) {
		if Same(known, baseURL) {
			return f.Credentials[known], true
		}
	}
	return Credential{}, false
}

// Same says whether two base URLs are one: the case of the host and a trailing
// slash make no difference.
func Same(one, other string) bool { return plain(one) == plain(other) }

func plain(baseURL string) string {
	if u, err := url.Parse(baseURL); err == nil {
		u.Host = strings.ToLower(u.Host)
		baseURL = u.String()
	}
	return strings.TrimRight(baseURL, "/")
}
