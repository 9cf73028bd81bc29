// Package chaos lets a user change everything, and the world and the wire break
// everything, at random, and then asks whether each server is where it belongs.
//
// It consists of tests alone: go test ./internal/chaos -chaos.seeds=200 runs two
// hundred walks, -chaos.seed=N the one that failed.
package chaos
