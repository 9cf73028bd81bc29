package instance

import (
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// silence is how long nothing may be said while somebody watches.
const silence = 10 * time.Second

// teller tells a user who watches how a server gets on: what is asked of the
// service, every change of the status, and every few seconds that it is still at it.
// Nil tells nobody.
type teller struct {
	id    string
	began time.Time

	mu    sync.Mutex
	say   func(action.InvokeProgressEvent) // nil when it is over: nobody listens any more
	asked bool                             // a start or stop was requested, whatever became of the request
	seen  rental.Instance
	timer *time.Timer
}

// newTeller begins to tell of a server. The caller ends it.
func newTeller(id string, say func(action.InvokeProgressEvent)) *teller {
	t := &teller{id: id, began: time.Now(), say: say}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = time.AfterFunc(silence, t.still)
	return t
}

// end returns when the last word is said.
func (t *teller) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer.Stop()
	t.say = nil
}

// tell says something about the server.
func (t *teller) tell(format string, arguments ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.speak(fmt.Sprintf(format, arguments...))
}

// asks tells that a start or stop is about to be asked for.
func (t *teller) asks(wanted rental.DesiredState) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked = true
	t.speak("is asked to " + verb(wanted))
}

// requested says whether a start or stop was requested.
func (t *teller) requested() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.asked
}

// saw tells of a change.
func (t *teller) saw(inst rental.Instance) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	changed := t.seen.Status != inst.Status
	if t.seen = inst; changed {
		t.speak("is " + t.now())
	}
}

// still tells that nothing has changed.
func (t *teller) still() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.speak("is still " + t.now() + "…")
}

// now is where the server was last seen. The caller holds the lock.
func (t *teller) now() string {
	text := tfkit.OneLine(t.seen.Status)
	switch {
	case t.seen.Status == "":
		text = "looked for"
	case t.seen.Status == rental.StatusRunning && t.seen.SSH == nil && t.seen.DesiredState != rental.DesiredStopped:
		text += ", without an SSH address so far"
	}
	if took := time.Since(t.began).Round(time.Second); took > 0 {
		text += fmt.Sprintf(" (%s)", took)
	}
	return text
}

// speak says something, and again after a silence. The caller holds the lock.
func (t *teller) speak(text string) {
	if t.say == nil {
		return
	}
	t.say(action.InvokeProgressEvent{Message: "Instance " + tfkit.OneLine(t.id) + " " + text})
	t.timer.Reset(silence)
}
