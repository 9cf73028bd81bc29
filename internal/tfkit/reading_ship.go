//go:build !bench

package tfkit

const reading = readShared
