package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/credentials"
	"github.com/gpurent/terraform-provider-gpurent/internal/testenv"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Keys of 44 characters that differ in their first eight.
const (
	argumentKey = "gpr_ARGUaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	envKey      = "gpr_ENVIaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	fileKey     = "gpr_FILEaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	fileURL     = "https://file.example/api/v1"
)

// setHome sets a temporary configuration folder, with a credentials file unless file is nil.
func setHome(t *testing.T, file *credentials.File, mode os.FileMode) {
	t.Helper()
	testenv.SetHome(t, t.TempDir())
	if file == nil {
		return
	}
	path, err := credentials.Path()
	if err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, mode),
		os.Chmod(path, mode), // whatever the umask
	); err != nil {
		t.Fatal(err)
	}
}

// login returns a credentials file with a key, with space around each value.
func login(space string) *credentials.File {
	address := space + fileURL + space
	return &credentials.File{
		Current:     address,
		Credentials: map[string]credentials.Credential{address: {APIKey: space + fileKey + space}},
	}
}

// All combinations of the sources of address and key. TestConfigure_Errors tests a key from the environment with the
// address from the file. White space around a value is removed; a value of white space only is missing.
func TestConfigure_Precedence(t *testing.T) {
	const argURL, envURL = "https://arg.example/api/v1", "https://env.example/api/v1"
	for name, test := range map[string]struct {
		baseURL, apiKey, envBaseURL, envAPIKey string
		file                                   bool // a credentials file exists
		wantURL                                string
		wantKey                                string // first characters
	}{
		"arguments before environment":       {argURL, argumentKey, envURL, envKey, true, argURL, "gpr_ARGU"},
		"address argument, key environment":  {argURL, "", envURL, envKey, true, argURL, "gpr_ENVI"},
		"address argument, key file":         {fileURL, "", "", "", true, fileURL, "gpr_FILE"},
		"address argument, other in file":    {argURL, "", "", "", true, argURL, ""},
		"address argument, no key":           {argURL, "", "", "", false, argURL, ""},
		"address environment, key argument":  {"", argumentKey, envURL, envKey, true, envURL, "gpr_ARGU"},
		"environment before file":            {"", "", envURL, envKey, true, envURL, "gpr_ENVI"},
		"address environment, key file":      {"", "", fileURL, "", true, fileURL, "gpr_FILE"},
		"address environment, other in file": {"", "", envURL, "", true, envURL, ""},
		"address file, key argument":         {"", argumentKey, "", envKey, true, fileURL, "gpr_ARGU"},
		"file alone":                         {"", "", "", "", true, fileURL, "gpr_FILE"},
	} {
		for _, space := range []string{"", " \r\n"} {
			t.Run(fmt.Sprintf("%s, space %q", name, space), func(t *testing.T) {
				setHome(t, nil, 0)
				if test.file {
					setHome(t, login(space), 0o600)
				}
				t.Setenv(EnvBaseURL, test.envBaseURL+space)
				t.Setenv(EnvAPIKey, test.envAPIKey+space)
				t.Setenv(envLanguage, space)
				meta, diags := configure(model{
					BaseURL: types.StringValue(space + test.baseURL + space), APIKey: types.StringValue(test.apiKey + space),
				})
				if diags.HasError() {
					t.Fatal(diags)
				}
				if got := meta.Client.BaseURL(); got != test.wantURL {
					t.Errorf("base URL %s, want %s", got, test.wantURL)
				}
				if meta.KeyStart != test.wantKey || meta.Client.Authenticated() != (test.wantKey != "") {
					t.Errorf("the key starts with %q, want %q", meta.KeyStart, test.wantKey)
				}
			})
		}
	}
}

func TestConfigure_Errors(t *testing.T) {
	withKey := func(baseURL string) model {
		return model{BaseURL: types.StringValue(baseURL), APIKey: types.StringValue(argumentKey)}
	}
	for name, test := range map[string]struct {
		config model
		env    map[string]string
		file   *credentials.File
		mode   os.FileMode
		want   []string
	}{
		"no address": {want: []string{"base_url", EnvBaseURL, "credentials.json"}},
		"key from the environment for the file's address": {env: map[string]string{EnvAPIKey: envKey}, file: login(""),
			mode: 0o600,
			want: []string{EnvAPIKey, "credentials file", "Set " + EnvBaseURL, "unset " + EnvAPIKey}},
		"key from the environment and no address": {env: map[string]string{EnvAPIKey: envKey},
			want: []string{EnvAPIKey, "Set " + EnvBaseURL}},
		"http to another host": {config: withKey("http://rent.example/api/v1"), want: []string{"http"}},
		"address with a password": {config: withKey("https://u:canary@rent.example/api/v1"),
			want: []string{"user"}},
		"address without the version": {config: withKey("https://rent.example"),
			want: []string{"The value of base_url comes from the provider argument base_url: ", "/api/v1"}},
		"invalid address in the environment": {env: map[string]string{EnvBaseURL: "rent.example", EnvAPIKey: envKey},
			want: []string{"The value of base_url comes from the environment variable " + EnvBaseURL}},
		"invalid address in the file": {file: &credentials.File{Current: "x"}, mode: 0o600,
			want: []string{"The value of base_url comes from the credentials file /", "credentials.json: "}},
		"unknown language": {config: withKey(fileURL), env: map[string]string{envLanguage: "fr"},
			want: []string{envLanguage, "fr"}},
		"credentials file readable by others": {file: login(""), mode: 0o644, want: []string{"chmod 600"}},
		"key with invalid characters": {config: model{BaseURL: types.StringValue(fileURL),
			APIKey: types.StringValue("canary\r\nHost: x")},
			want: []string{"The value of api_key comes from the provider argument api_key: "}},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && test.mode != 0 {
				t.Skip("Windows has no file modes")
			}
			setHome(t, test.file, test.mode)
			for name, value := range test.env {
				t.Setenv(name, value)
			}
			_, diags := configure(test.config)
			if !diags.HasError() {
				t.Fatal("no error")
			}
			text := diags.Errors()[0].Summary() + "\n" + diags.Errors()[0].Detail()
			for _, want := range test.want {
				if !strings.Contains(text, want) {
					t.Errorf("the error does not contain %q: %s", want, text)
				}
			}
			for _, secret := range []string{"canary", argumentKey, envKey, fileKey} {
				if strings.Contains(text, secret) {
					t.Errorf("the error contains a secret: %s", text)
				}
			}
		})
	}
}

// Values that are unknown at plan do not fail the plan.
func TestConfigure_UnknownValues(t *testing.T) {
	setHome(t, login(""), 0o600)
	meta, diags := configure(model{BaseURL: types.StringValue(fileURL), APIKey: types.StringUnknown()})
	if diags.HasError() || meta.Client == nil || meta.Client.Authenticated() || meta.Ready() {
		t.Errorf("unknown key: %+v, %v; want a client for public requests only", meta, diags)
	}
	t.Setenv(EnvAPIKey, envKey) // an unknown argument takes precedence
	meta, diags = configure(model{APIKey: types.StringUnknown()})
	if diags.HasError() || meta.Client == nil || meta.Client.Authenticated() || meta.Client.BaseURL() != fileURL {
		t.Errorf("unknown key and the file's address: %+v, %v; want a client for public requests only", meta, diags)
	}
	meta, diags = configure(model{BaseURL: types.StringUnknown(), APIKey: types.StringUnknown()})
	if diags.HasError() || meta.Client != nil || meta.Ready() {
		t.Errorf("unknown address: %+v, %v; want no client", meta, diags)
	}
}

func configure(config model) (*tfkit.Meta, diag.Diagnostics) {
	var diags diag.Diagnostics
	meta := (&gpurentProvider{version: "test", process: new(process)}).newMeta(config, &diags)
	return meta, diags
}

// The other arguments reach the client: its messages are in the language, and a request ends after request_timeout and
// max_retries.
func TestConfigure_ClientArguments(t *testing.T) {
	var languages []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		languages = append(languages, r.Header.Get("Accept-Language"))
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(server.Close)
	setHome(t, nil, 0)
	meta, diags := configure(model{
		BaseURL: types.StringValue(server.URL + "/api/v1"), APIKey: types.StringValue(argumentKey),
		Language: types.StringValue("ru"), RequestTimeout: types.StringValue("7s"), MaxRetries: types.Int64Value(0),
	})
	if diags.HasError() {
		t.Fatal(diags)
	}
	if _, err := meta.Client.GetMe(t.Context()); err == nil || len(languages) != 1 || languages[0] != "ru" {
		t.Errorf("%v after requests in %q, want one in ru", err, languages)
	}
	if got := meta.Client.RequestTimeout(); got != 7*time.Second {
		t.Errorf("the timeout of a request is %s", got)
	}
}
