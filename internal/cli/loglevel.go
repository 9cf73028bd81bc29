package cli

import (
	"cmp"
	"os"
	"slices"
	"strings"
)

// Environment variables with the log level of the plugin. Without them, the plugin writes all messages and the CLI
// drops those below its own level. For a large plan, that is a fifth of the CPU time of the plugin.
const (
	envLogSDK = "TF_LOG_SDK"
	// envLogFramework has a separate level. With all messages, the time of a call grows with the square of the number of
	// values: a refresh of a fleet with 1,000 members took 22 s instead of 1 s.
	envLogFramework = "TF_LOG_SDK_FRAMEWORK"
	envLogProvider  = "TF_LOG_PROVIDER_GPURENT"
)

// limitLogLevel sets the log level of the plugin to that of the CLI. It does not change the variables that the user has
// set.
func limitLogLevel() error {
	level := pluginLevel(cmp.Or(os.Getenv("TF_LOG_PROVIDER"), os.Getenv("TF_LOG")))
	for _, name := range []string{envLogSDK, envLogFramework, envLogProvider} {
		if level == "" || os.Getenv(name) != "" {
			continue
		}
		if err := os.Setenv(name, level); err != nil {
			return err
		}
	}
	return nil
}

// pluginLevel returns the log level of the plugin for a log level of the CLI. Empty means all messages, which the CLI
// also shows for an unknown level.
func pluginLevel(cliLevel string) string {
	cliLevel = strings.ToUpper(cliLevel)
	switch {
	case cliLevel == "":
		return "OFF"
	case slices.Contains([]string{"OFF", "ERROR", "WARN", "INFO", "DEBUG"}, cliLevel):
		return cliLevel
	}
	return ""
}
