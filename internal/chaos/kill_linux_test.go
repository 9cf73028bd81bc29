package chaos

import (
	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// canKill reports whether the tests find the processes to kill.
const canKill = true

// lastKill is the highest number of the write request at which an apply is killed.
const lastKill = 4

// waitForService waits for requests that the client has given up, which the API processes.
func (r *run) waitForService() { r.env.WaitForService() }

// applyKilled kills an apply. Applying again with the same configuration must find everything that it rented, whether
// or not the apply succeeds.
func (r *run) applyKilled() {
	r.configure()
	kill := pickOne(r.rng, (*acctest.Run).KillProvider, (*acctest.Run).KillCLI, (*acctest.Run).KillAll)
	var command *acctest.Run
	started, killed := make(chan struct{}), make(chan error, 1)
	r.recorder.killAt(1+r.rng.IntN(lastKill), r.rng.IntN(2) == 0, func() {
		<-started
		_, err := kill(command)
		killed <- err
	})
	command = r.workspace.Start(r.Context(), "apply", "-auto-approve", "-no-color")
	close(started)
	output, exitCode := command.Wait()
	r.waitForService()
	r.recorder.killAt(0, false, nil)
	r.logf("--- killed apply: exit code %d\n%s", exitCode, output)
	select {
	case err := <-killed:
		r.must(err)
	default:
		r.logf("the apply ended before the kill")
	}
	if r.workspace.RestoreTruncatedState() {
		r.logf("the incomplete state was replaced by its backup")
	}
	r.env.ClearFaults()
	r.undoEvents()
	r.logf("applied again: %t", r.converge())
}
