// Package chaos changes a configuration at random, while the service and the network fail at random. It checks after
// every apply that no server is lost, and at the end that the configuration converges. Half of the runs have only a
// fleet, and kill applies.
//
// The package has only tests. "make chaos" runs them with random seeds, and "make chaos SEED=N" repeats one run.
package chaos
