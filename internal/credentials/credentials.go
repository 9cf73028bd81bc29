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
	"runtime"
	"slices"
	"strings"
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

const (
	// othersMask are the permission bits that let others than the owner at the file.
	othersMask = 0o077
	// writersMask are those of a folder that let others replace what is in it.
	writersMask = 0o022
	// largest is the size, in bytes, of a file that can be one of ours.
	largest = 1 << 20
)

// Load reads the file at path. A missing file is an empty one; a file that
// others can read is refused, for its keys can be copied.
func Load(path string) (File, error) {
	d, err := read(path)
	if err != nil {
		return File{}, err
	}
	return d.file, nil
}

// read reads the file with all that is in it.
func read(path string) (document, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return document{}, nil
	}
	if err != nil {
		return document{}, fmt.Errorf("looking at the credentials file: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > largest {
		return document{}, fmt.Errorf("the credentials file %s is not a file of keys: remove it", path)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&othersMask != 0 {
		return document{}, fmt.Errorf("the credentials file %s can be read by others (mode %04o): run chmod 600 on it, and replace the keys in it if the machine is shared",
			path, info.Mode().Perm())
	}
	content, err := readAll(path)
	if err != nil {
		return document{}, fmt.Errorf("reading the credentials file: %w", err)
	}
	d, err := parse(content)
	if err != nil {
		return document{}, fmt.Errorf("the credentials file %s %w", path, err)
	}
	return d, nil
}

// readAll reads no more of a file than makes it too large to be ours.
func readAll(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, largest+1))
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
