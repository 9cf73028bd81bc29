//go:build !bench

package cli

// reportUsage does nothing but in builds for measurements.
func reportUsage() error { return nil }
