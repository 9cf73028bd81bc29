//go:build !linux

package chaos

// canKill reports whether the tests find the processes to kill.
const canKill = false

func (*run) applyKilled() {}
