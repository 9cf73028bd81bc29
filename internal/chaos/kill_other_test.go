//go:build !linux

package chaos

// canKill reports whether the tests find the processes to kill.
const canKill = false

func (*run) waitForService() {} // so a run can fail there because of a request that the client has given up

func (*run) applyKilled() {}
