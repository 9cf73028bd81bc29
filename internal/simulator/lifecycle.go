package simulator

import (
	"fmt"
	"slices"
	"time"
)

// The pace of a server, as shares of the boot time in percent.
const (
	paceStarting  = 30  // a new server leaves creating
	paceRunning   = 100 // a server runs
	paceReachable = 120 // its ports are assigned
	paceLag       = 12  // a status follows an accepted request
)

func (w *world) after(percent int64) time.Time {
	return w.at.Add((w.boot * time.Duration(percent) / 100).Truncate(quantum))
}

// nextTransition is the event source of what instances have ahead.
func (w *world) nextTransition(i *instance, first *event) {
	if len(i.ahead) == 0 {
		return
	}
	first.sooner(i.ahead[0].at, func() {
		to := i.ahead[0].to
		i.ahead = i.ahead[1:]
		if to == "" {
			i.reachable = true
			w.note(i, "Ports assigned: %s, first port %d", i.host, i.firstPort)
			return
		}
		w.enter(i, to)
	})
}

// enter puts an instance into a status now, with all that the status brings.
func (w *world) enter(i *instance, status string) {
	i.status = status
	switch status {
	case statusStarting:
		w.note(i, "Image %s is ready, starting the container", i.image)
	case statusRunning:
		if i.startedAt == nil {
			i.startedAt = new(w.at)
		}
		w.note(i, "Container is running (%s launch)", i.template.launchMode)
		if i.bidPassed() {
			w.outbid(i)
			return
		}
	case statusStopping:
		w.note(i, "Stopping the container")
	case statusStopped:
		w.note(i, "Container stopped")
	case statusOutbid:
		w.note(i, "Outbid: the market price is above the bid of %d kop/h", i.bidKopH)
	case statusFailed:
		w.note(i, "The server failed")
	case statusDestroying:
		w.note(i, "Destroying the server and its disk")
	}
	if status != statusRunning {
		i.reachable = false
	}
	if status == statusDestroyed && i.offer.rentedBy == i {
		i.offer.rentedBy = nil
	}
	w.remeter(i)
}

// remeter bills the instance at the rate of its status from now on, and posts what a finished stretch has cost.
func (w *world) remeter(i *instance) {
	rate := i.rate()
	if rate == i.meter.rate {
		return
	}
	i.meter.read(w.at)
	w.postUsage(i)
	i.meter.run(rate, w.at)
}

// begin sets a new server on its way.
func (w *world) begin(i *instance) {
	w.note(i, "Renting %d x %s, disk %d GB", i.offer.count, i.offer.model.name, i.diskGB)
	w.note(i, "Pulling image %s", i.image)
	for _, k := range i.sshKeys {
		w.note(i, "Attached SSH key %s", k.fingerprint)
	}
	i.ahead = []transition{
		{w.after(paceStarting), statusStarting}, {w.after(paceRunning), statusRunning}, {w.after(paceReachable), ""},
	}
}

// start brings a stopped or outbid server back. A bid that the market has passed is placed anew.
func (w *world) start(i *instance) error {
	switch {
	case i.status == statusStopped && i.desired == desiredStopped, i.status == statusOutbid && i.desired == desiredRunning && len(i.ahead) == 0:
	default:
		return stateForbids(i)
	}
	market := i.offer.price(i.rental)
	rebid := i.rental == typeInterruptible && (i.status == statusOutbid || market == nil || *market > i.bidKopH)
	price := i.runningKopH
	if rebid {
		if market == nil {
			return conflict("Сервер больше не сдаётся с прерыванием", "The server is no longer let as interruptible")
		}
		price = *market + extraDiskKopH(i.offer, i.diskGB)
	}
	if err := w.requireFunds(price); err != nil {
		return err
	}
	if rebid {
		i.bidKopH, i.runningKopH = *market, price
		w.note(i, "New bid: %d kop/h", i.bidKopH)
	}
	i.desired, i.stopReason = desiredRunning, nil
	i.ahead = []transition{
		{w.after(paceLag), statusStarting}, {w.after(paceRunning), statusRunning}, {w.after(paceReachable), ""},
	}
	w.remeter(i)
	return nil
}

// stop halts a server that runs or is about to.
func (w *world) stop(i *instance, reason string) error {
	if !i.live() && !(i.status == statusOutbid && i.desired == desiredRunning) {
		return stateForbids(i)
	}
	i.desired, i.stopReason = desiredStopped, &reason
	i.reachable = false
	switch i.status {
	case statusRunning:
		i.ahead = []transition{{w.after(paceLag), statusStopping}, {w.after(2 * paceLag), statusStopped}}
	case statusStopped:
		i.ahead = nil
	default:
		i.ahead = []transition{{w.after(paceLag), statusStopped}}
	}
	w.note(i, "Stop requested: %s", reason)
	w.remeter(i)
	return nil
}

// outbid takes the GPU away from a server whose bid is passed.
func (w *world) outbid(i *instance) {
	i.ahead = nil
	w.enter(i, statusOutbid)
}

// destroy ends a rental. Billing ends at once; the server is free again when the status says destroyed.
func (w *world) destroy(i *instance) error {
	if i.ending() {
		return stateForbids(i)
	}
	i.desired = desiredDestroyed
	i.ahead = []transition{{w.after(paceLag), statusDestroyed}}
	w.enter(i, statusDestroying)
	return nil
}

// force puts an instance into a status where it stays until it is asked for something else.
func (w *world) force(i *instance, status string) {
	i.ahead = nil
	w.enter(i, status)
	i.reachable = i.status == statusRunning
}

func stateForbids(i *instance) error {
	e := conflict("", "")
	e.text = text{"Состояние %s (цель: %s) этого не позволяет", "The state %s (heading to %s) does not allow it"}.with(i.status, i.desired)
	return e
}

// maxLogLines is how much of a startup log is kept.
const maxLogLines = 2000

func (w *world) note(i *instance, format string, args ...any) {
	line := w.at.Format("2006-01-02T15:04:05.000Z ") + fmt.Sprintf(format, args...)
	i.log = append(i.log, line)
	if extra := len(i.log) - maxLogLines; extra > 0 {
		i.log = slices.Delete(i.log, 0, extra)
	}
}
