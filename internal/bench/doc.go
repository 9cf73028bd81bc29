// Package bench measures what the program costs who runs it: its size, and the time
// and memory of a start, beside a provider that does nothing.
//
// It consists of tests alone.
package bench
