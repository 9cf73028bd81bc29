package provider

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/credentials"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
	"github.com/gpurent/terraform-provider-gpurent/internal/testhome"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Keys of 44 characters that differ in their first eight.
const (
	argumentKey = "gpr_ARGUaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	envKey      = "gpr_ENVIaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	fileKey     = "gpr_FILEaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	fileURL     = "https://file.example/api/v1"
)

// home makes a user's configuration folder, with a credentials file if given,
// and clears the environment.
func home(t *testing.T, file *credentials.File, mode os.FileMode) {
	t.Helper()
	testhome.Use(t, t.TempDir())
	for _, name := range []string{EnvBaseURL, EnvAPIKey, envLanguage} {
		t.Setenv(name, "")
	}
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
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, mode); err != nil {
		t.Fatal(err)
	}
}

var login = &credentials.File{Current: fileURL, Credentials: map[string]credentials.Credential{fileURL: {APIKey: fileKey}}}

// Every source of an address with every source of a key. TestConfigureRefuses has the key from the environment with the
// address from the file.
func TestConfigurePrecedence(t *testing.T) {
	const argURL, envURL = "https://arg.example/api/v1", "https://env.example/api/v1"
	for name, test := range map[string]struct {
		baseURL, apiKey string
		env             map[string]string
		file            *credentials.File
		wantURL         string
		wantKey         string // how it starts
	}{
		"arguments before environment":       {argURL, argumentKey, map[string]string{EnvBaseURL: envURL, EnvAPIKey: envKey}, login, argURL, "gpr_ARGU"},
		"address argument, key environment":  {argURL, "", map[string]string{EnvBaseURL: envURL, EnvAPIKey: envKey}, login, argURL, "gpr_ENVI"},
		"address argument, key file":         {fileURL + "/", "", nil, login, fileURL, "gpr_FILE"},
		"address argument, file of another":  {argURL, "", nil, login, argURL, ""},
		"address argument, no key":           {argURL, "", nil, nil, argURL, ""},
		"address environment, key argument":  {"", argumentKey, map[string]string{EnvBaseURL: envURL, EnvAPIKey: envKey}, login, envURL, "gpr_ARGU"},
		"environment before file":            {"", "", map[string]string{EnvBaseURL: envURL, EnvAPIKey: envKey}, login, envURL, "gpr_ENVI"},
		"address environment, key file":      {"", "", map[string]string{EnvBaseURL: fileURL}, login, fileURL, "gpr_FILE"},
		"address environment, file of other": {"", "", map[string]string{EnvBaseURL: envURL}, login, envURL, ""},
		"address file, key argument":         {"", argumentKey, map[string]string{EnvAPIKey: envKey}, login, fileURL, "gpr_ARGU"},
		"file alone":                         {"", "", nil, login, fileURL, "gpr_FILE"},
		"address file, no key":               {"", "", nil, &credentials.File{Current: fileURL}, fileURL, ""},
	} {
		t.Run(name, func(t *testing.T) {
			home(t, test.file, 0o600)
			for name, value := range test.env {
				t.Setenv(name, value)
			}
			meta, diags := configure(model{BaseURL: optional(test.baseURL), APIKey: optional(test.apiKey)})
			if diags.HasError() {
				t.Fatal(diags)
			}
			if got := meta.Client.BaseURL(); got != test.wantURL {
				t.Errorf("base URL %s, want %s", got, test.wantURL)
			}
			if meta.KeyStart != test.wantKey || meta.Client.Authenticated() != (test.wantKey != "") {
				t.Errorf("key starts %q (authenticated %t), want %q", meta.KeyStart, meta.Client.Authenticated(), test.wantKey)
			}
		})
	}
}

func TestConfigureRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		config model
		env    map[string]string
		file   *credentials.File
		mode   os.FileMode
		want   []string
	}{
		"no address": {want: []string{"base_url", EnvBaseURL, "credentials.json"}},
		"key from the environment for the file's address": {env: map[string]string{EnvAPIKey: envKey}, file: login, mode: 0o600,
			want: []string{EnvAPIKey, "credentials file", "Set " + EnvBaseURL, "unset " + EnvAPIKey}},
		"key from the environment and no address": {env: map[string]string{EnvAPIKey: envKey}, want: []string{EnvAPIKey, "Set " + EnvBaseURL}},
		"http to another machine":                 {config: model{BaseURL: types.StringValue("http://rent.example/api/v1"), APIKey: types.StringValue(argumentKey)}, want: []string{"http"}},
		"address with a password":                 {config: model{BaseURL: types.StringValue("https://u:canary@rent.example/api/v1"), APIKey: types.StringValue(argumentKey)}, want: []string{"user"}},
		"address without the version":             {config: model{BaseURL: types.StringValue("https://rent.example"), APIKey: types.StringValue(argumentKey)}, want: []string{"/api/v1"}},
		"language that is not known":              {config: model{BaseURL: types.StringValue(fileURL), APIKey: types.StringValue(argumentKey)}, env: map[string]string{envLanguage: "fr"}, want: []string{envLanguage, "fr"}},
		"credentials file open to others":         {file: login, mode: 0o644, want: []string{"chmod 600"}},
		"key that cannot be in a header":          {config: model{BaseURL: types.StringValue(fileURL), APIKey: types.StringValue("canary\r\nHost: x")}, want: []string{"API key"}},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && test.mode != 0 {
				t.Skip("Windows has no such modes")
			}
			home(t, test.file, test.mode)
			for name, value := range test.env {
				t.Setenv(name, value)
			}
			_, diags := configure(test.config)
			if !diags.HasError() {
				t.Fatal("accepted")
			}
			text := diags.Errors()[0].Summary() + "\n" + diags.Errors()[0].Detail()
			for _, want := range test.want {
				if !strings.Contains(text, want) {
					t.Errorf("the error does not say %q: %s", want, text)
				}
			}
			for _, secret := range []string{"canary", argumentKey, envKey, fileKey} {
				if strings.Contains(text, secret) {
					t.Errorf("the error shows a secret: %s", text)
				}
			}
		})
	}
}

// What is not known at plan must not fail the plan.
func TestConfigureWithUnknownValues(t *testing.T) {
	home(t, login, 0o600)
	meta, diags := configure(model{BaseURL: types.StringValue(fileURL), APIKey: types.StringUnknown()})
	if diags.HasError() || meta.Client == nil || meta.Client.Authenticated() || meta.Ready() {
		t.Errorf("unknown key: %+v, %v; want a client for public requests only", meta, diags)
	}
	t.Setenv(EnvAPIKey, envKey) // an argument that is not known yet goes before it
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
	meta := (&gpurentProvider{version: "test", process: new(process)}).newMeta(config, spending.Limits{}, &diags)
	return meta, diags
}

func optional(value string) types.String {
	if value == "" {
		return types.StringNull()
	}
	return types.StringValue(value)
}
