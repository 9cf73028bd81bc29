//go:build !bench

package cli

// measure does nothing but in builds for measurements.
func measure() (report func() error) { return func() error { return nil } }
