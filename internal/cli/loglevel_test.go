package cli

import (
	"os"
	"testing"
)

func TestLimitLog(t *testing.T) {
	tests := []struct {
		name, all, provider, sdk string
		wantSDK, wantOwn         string
	}{
		{"nobody looks", "", "", "", "OFF", "OFF"},
		{"everything", "TRACE", "", "", "", ""},
		{"as JSON", "JSON", "", "", "", ""},
		{"a level", "debug", "", "", "DEBUG", "DEBUG"},
		{"of providers only", "", "INFO", "", "INFO", "INFO"},
		{"more of providers", "ERROR", "TRACE", "", "", ""},
		{"unknown is everything", "loud", "", "", "", ""},
		{"its own wish", "", "", "TRACE", "TRACE", "OFF"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("TF_LOG", test.all)
			t.Setenv("TF_LOG_PROVIDER", test.provider)
			t.Setenv(envLogSDK, test.sdk)
			t.Setenv(envLogOwn, "")
			if err := limitLog(); err != nil {
				t.Fatal(err)
			}
			if sdk, own := os.Getenv(envLogSDK), os.Getenv(envLogOwn); sdk != test.wantSDK || own != test.wantOwn {
				t.Errorf("%s=%q %s=%q, want %q and %q", envLogSDK, sdk, envLogOwn, own, test.wantSDK, test.wantOwn)
			}
		})
	}
}
