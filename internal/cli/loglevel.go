package cli

import (
	"cmp"
	"os"
	"slices"
	"strings"
)

// The variables that decide what a plugin writes to its log. Where they are not
// set it writes everything, and the CLI throws away what nobody asked to see: of a
// large plan that is a fifth of the plugin's work.
const (
	envLogSDK = "TF_LOG_SDK"
	envLogOwn = "TF_LOG_PROVIDER_GPURENT"
)

// limitLog lets the plugin write only what the CLI is going to show. What the user
// set for the plugin itself stays.
func limitLog() error {
	level := shownLevel(cmp.Or(os.Getenv("TF_LOG_PROVIDER"), os.Getenv("TF_LOG")))
	for _, name := range []string{envLogSDK, envLogOwn} {
		if level == "" || os.Getenv(name) != "" {
			continue
		}
		if err := os.Setenv(name, level); err != nil {
			return err
		}
	}
	return nil
}

// shownLevel is the level for a log of which the CLI shows this much; empty for all
// of it, which is also what the CLI makes of a level that it does not know.
func shownLevel(asked string) string {
	asked = strings.ToUpper(asked)
	switch {
	case asked == "":
		return "OFF"
	case slices.Contains([]string{"OFF", "ERROR", "WARN", "INFO", "DEBUG"}, asked):
		return asked
	}
	return ""
}
