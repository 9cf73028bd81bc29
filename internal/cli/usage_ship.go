//go:build !bench

package cli

// measureUsage does nothing in a normal build. See usage_bench.go.
func measureUsage() (report func() error) { return func() error { return nil } }
