package cli

import (
	"os"
	"testing"
)

func TestLimitLogLevel(t *testing.T) {
	for _, test := range []struct {
		name, all, provider, sdk string
		wantSDK, wantProvider    string
	}{
		{"no log", "", "", "", "OFF", "OFF"},
		{"all levels", "TRACE", "", "", "", ""},
		{"JSON", "JSON", "", "", "", ""},
		{"one level", "debug", "", "", "DEBUG", "DEBUG"},
		{"providers only", "", "INFO", "", "INFO", "INFO"},
		{"higher level for providers", "ERROR", "TRACE", "", "", ""},
		{"unknown level", "loud", "", "", "", ""},
		{"level set for the SDK", "", "", "TRACE", "TRACE", "OFF"},
	} {
		t.Setenv("TF_LOG", test.all)
		t.Setenv("TF_LOG_PROVIDER", test.provider)
		t.Setenv(envLogSDK, test.sdk)
		t.Setenv(envLogFramework, "")
		t.Setenv(envLogProvider, "")
		if err := limitLogLevel(); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{
			envLogSDK: test.wantSDK, envLogFramework: test.wantProvider, envLogProvider: test.wantProvider,
		} {
			if got := os.Getenv(name); got != want {
				t.Errorf("%s: %s=%q, want %q", test.name, name, got, want)
			}
		}
	}
}
