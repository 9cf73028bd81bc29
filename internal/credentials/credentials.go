// Package credentials reads the file that holds a user's API keys:
// credentials.json in the gpurent folder of the user's configuration.
package credentials

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
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

// othersMask are the permission bits that let others than the owner at the file.
const othersMask = 0o077

// Load reads the file at path. A missing file is an empty one; a file that
// others can read is refused, for its keys can be copied.
func Load(path string) (File, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, nil
	}
	if err != nil {
		return File{}, fmt.Errorf("looking at the credentials file: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&othersMask != 0 {
		return File{}, fmt.Errorf("the credentials file %s can be read by others (mode %04o): run chmod 600 on it, and replace the keys in it if the machine is shared",
			path, info.Mode().Perm())
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return File{}, fmt.Errorf("reading the credentials file: %w", err)
	}
	var file File
	if err := json.Unmarshal(content, &file); err != nil {
		// The parser's message could repeat a part of a key.
		return File{}, fmt.Errorf("the credentials file %s is not valid JSON of the right form: mend it, or remove it", path)
	}
	return file, nil
}

// Key returns the key for a base URL, empty for none. A trailing slash makes no
// difference.
func (f File) Key(baseURL string) string {
	wanted := strings.TrimRight(baseURL, "/")
	for known, credential := range f.Credentials {
		if strings.TrimRight(known, "/") == wanted {
			return credential.APIKey
		}
	}
	return ""
}
