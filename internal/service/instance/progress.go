package instance

import (
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// progressInterval is how often an action reports the status of an instance that does not change.
const progressInterval = 10 * time.Second

// progressReporter reports the progress of an action to the user: each request, each change of the status, and
// periodically the status.
type progressReporter struct {
	id    string
	began time.Time

	mu   sync.Mutex
	send func(action.InvokeProgressEvent) // nil after stop
	last rental.Instance
	tick *time.Timer
}

// newProgressReporter returns a reporter for an instance. The caller calls stop.
func newProgressReporter(id string, send func(action.InvokeProgressEvent)) *progressReporter {
	p := &progressReporter{id: id, began: time.Now(), send: send}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tick = time.AfterFunc(progressInterval, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.report("is still " + p.status() + "…")
	})
	return p
}

// stop ends the reports. It returns when no report is in progress.
func (p *progressReporter) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tick.Stop()
	p.send = nil
}

// Report reports a text.
func (p *progressReporter) Report(text tfkit.Text) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report(text)
}

// Requesting is a lifecycle.Target.Requesting.
func (p *progressReporter) Requesting(wanted rental.DesiredState) {
	p.Report("is requested to " + verbFor(wanted))
}

// Observed is a lifecycle.Target.Observed.
func (p *progressReporter) Observed(inst rental.Instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := p.last.Status != inst.Status
	if p.last = inst; changed {
		p.report("is " + p.status())
	}
}

// status returns the last status and the time since the action began. The caller holds the lock.
func (p *progressReporter) status() tfkit.Text {
	text := tfkit.Textf("%s", p.last.Status)
	switch {
	case p.last.Status == "":
		text = "being read"
	case p.last.Status == rental.StatusRunning && p.last.SSH == nil && p.last.DesiredState != rental.DesiredStopped:
		text += ", without an SSH address so far"
	}
	if took := time.Since(p.began).Round(time.Second); took > 0 {
		text += tfkit.Textf(" (%s)", took)
	}
	return text
}

// report sends a text, and postpones the next periodic report. The caller holds the lock.
func (p *progressReporter) report(text tfkit.Text) {
	if p.send == nil {
		return
	}
	p.send(action.InvokeProgressEvent{Message: string(tfkit.Textf("Instance %s %s", p.id, text))})
	p.tick.Reset(progressInterval)
}

// verbFor returns the verb of the request that moves an instance to a state.
func verbFor(wanted rental.DesiredState) tfkit.Text {
	if wanted == rental.DesiredStopped {
		return verbStop
	}
	return verbStart
}
