// Package credentials reads and writes the file with a user's API keys: gpurent/credentials.json in the user's
// configuration directory.
package credentials

import (
	"encoding/json"
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
	// Current is the default base URL: that of the last login. Empty for none.
	Current string `json:"current,omitempty"`
	// Credentials maps base URLs to keys.
	Credentials map[string]Credential `json:"credentials,omitempty"`
}

// Credential is one API key.
type Credential struct {
	// APIKey is the secret key.
	APIKey string `json:"api_key"`
	// KeyID is the id to revoke the key with. Empty if unknown.
	KeyID string `json:"key_id,omitempty"`
}

// Format implements fmt.Formatter. It omits the key.
func (c Credential) Format(out fmt.State, _ rune) { fmt.Fprint(out, "credential "+c.KeyID) }

// Path returns the path of the file: below XDG_CONFIG_HOME on Unix, Application Support on macOS, AppData on Windows.
func Path() (string, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("finding the user's configuration folder: %w", err)
	}
	return filepath.Join(folder, "gpurent", "credentials.json"), nil
}

// maxSize is the maximum size of the file in bytes.
const maxSize = 1 << 20

// Load reads the file at path. A missing file is empty. On Unix, Load returns an error if the file belongs to another
// user, if others can read it, or if others can replace it because they can write to its folder.
func Load(path string) (File, error) {
	// The checks are of the opened file, because the file at path can change.
	file, err := atomicfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, nil
	}
	if err != nil {
		return File{}, fmt.Errorf("reading the credentials file: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return File{}, fmt.Errorf("reading the credentials file: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxSize {
		return File{}, fmt.Errorf("the credentials file %s is not a file with API keys: remove it", path)
	}
	if err := checkFile(path, info, os.Geteuid()); err != nil {
		return File{}, err
	}
	if _, err := resolve(path); err != nil {
		return File{}, err
	}
	content, err := io.ReadAll(io.LimitReader(file, maxSize+1))
	if err != nil {
		return File{}, fmt.Errorf("reading the credentials file: %w", err)
	}
	return parse(path, content)
}

// errFormat does not contain the error of encoding/json, which could contain a part of a key.
var errFormat = errors.New("is not valid JSON of the expected format: correct it, or remove it")

// parse removes white space around the current base URL and the keys, which may have been added by hand.
func parse(path string, content []byte) (File, error) {
	var file *File
	if json.Unmarshal(content, &file) != nil || file == nil {
		return File{}, fmt.Errorf("the credentials file %s %w", path, errFormat)
	}
	file.Current = strings.TrimSpace(file.Current)
	for baseURL, credential := range file.Credentials {
		credential.APIKey = strings.TrimSpace(credential.APIKey)
		file.Credentials[baseURL] = credential
	}
	return *file, nil
}

// resolve returns the path of the file without symbolic links. It checks the folder of path and the folder of the
// result, because anyone who can write to one of them can replace the file.
func resolve(path string) (resolved string, err error) {
	folder, err := realPath(filepath.Dir(path))
	if err != nil {
		return "", fmt.Errorf("finding the folder of the credentials file: %w", err)
	}
	if err := checkFolderAt(folder); err != nil {
		return "", err
	}
	resolved = filepath.Join(folder, filepath.Base(path))
	if _, err := os.Lstat(resolved); errors.Is(err, fs.ErrNotExist) {
		return resolved, nil
	}
	resolved, err = realPath(resolved)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf(
			"the credentials file %s is a symbolic link to a missing file: remove the link, or create the file",
			path,
		)
	}
	if err != nil {
		return "", fmt.Errorf("finding the credentials file: %w", err)
	}
	if filepath.Dir(resolved) == folder {
		return resolved, nil
	}
	return resolved, checkFolderAt(filepath.Dir(resolved))
}

func checkFolderAt(folder string) error {
	info, err := os.Stat(folder) //nolint:gosec // the user chooses the path
	if err != nil {
		return fmt.Errorf("finding the folder of the credentials file: %w", err)
	}
	return checkFolder(folder, info, os.Geteuid())
}

// realPath calls filepath.EvalSymlinks, which can fail on Windows while another process replaces the file.
func realPath(path string) (resolved string, err error) {
	err = atomicfile.Retry(func() error {
		resolved, err = filepath.EvalSymlinks(path)
		return err
	})
	return resolved, err
}

// Key returns the key for a base URL, or "".
func (f File) Key(baseURL string) string {
	found, _ := f.Find(baseURL)
	return found.APIKey
}

// Find returns the credential for a base URL, which it compares with Same.
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

// remove removes and returns the credentials for a base URL that match.
func (f File) remove(baseURL string, match func(Credential) bool) (removed []Credential) {
	for known, credential := range f.Credentials {
		if Same(known, baseURL) && match(credential) {
			delete(f.Credentials, known)
			removed = append(removed, credential)
		}
	}
	return removed
}

// Same reports whether two base URLs are equal except for the case of the host, trailing slashes and white space around
// them.
func Same(a, b string) bool { return normalize(a) == normalize(b) }

func normalize(baseURL string) string {
	baseURL = strings.TrimSpace(baseURL)
	if u, err := url.Parse(baseURL); err == nil {
		u.Host = strings.ToLower(u.Host)
		baseURL = u.String()
	}
	return strings.TrimRight(baseURL, "/")
}
