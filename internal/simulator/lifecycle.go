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

// transit does what comes next for an instance.
func (w *world) transit(i *instance) {
	to := i.Ahead[0].To
	i.Ahead = i.Ahead[1:]
	switch {
	case to == "":
		i.Reachable = true
		w.note(i, "Ports assigned: %s, first port %d", i.Host, i.FirstPort)
	case to == statusRunning && i.offer.FailBoots:
		w.note(i, "The container exited with code 1 before it was ready")
		i.Ahead = nil
		w.enter(i, statusFailed)
	case to == statusOutbid:
		w.passBid(i)
	default:
		w.enter(i, to)
	}
	w.changed(i)
}

// enter puts an instance into a status now, with all that the status brings.
func (w *world) enter(i *instance, status string) {
	i.Status = status
	switch status {
	case statusStarting:
		w.note(i, "Image %s is ready, starting the container", i.Image)
	case statusRunning:
		if i.StartedAt == nil {
			i.StartedAt = new(w.at)
		}
		w.note(i, "Container is running (%s launch)", i.template.LaunchMode)
		if i.bidPassed() {
			w.outbid(i)
			return
		}
		w.expectOutbid(i)
	case statusStopping:
		w.note(i, "Stopping the container")
	case statusStopped:
		w.note(i, "Container stopped")
	case statusOutbid:
		w.note(i, "Outbid: the market price is above the bid of %d kop/h", i.BidKopH)
	case statusFailed:
		w.note(i, "The server failed")
	case statusDestroying:
		w.note(i, "Destroying the server and its disk")
	}
	if status != statusRunning {
		i.Reachable = false
	}
	if status == statusDestroyed {
		w.release(i)
	}
	w.remeter(i)
}

// release gives the server of an ended rental back to the market.
func (w *world) release(i *instance) {
	if i.offer.rentedBy == i {
		i.offer.rentedBy = nil
	}
	if n := slices.Index(w.active, i); n >= 0 {
		w.active = slices.Delete(w.active, n, n+1)
	}
}

// remeter bills the instance at the rate of its status from now on, and posts what a finished stretch has cost.
func (w *world) remeter(i *instance) {
	rate := i.rate()
	if rate == i.Meter.Rate {
		return
	}
	w.accrued.read(w.at)
	w.accrued.Rate += rate - i.Meter.Rate
	i.Meter.read(w.at)
	w.postUsage(i)
	i.Meter.run(rate, w.at)
}

// begin sets a new server on its way, with the SSH keys that it is to let in.
func (w *world) begin(i *instance, keys []*sshKey) {
	w.note(i, "Renting %d x %s, disk %d GB", i.offer.count, i.offer.model.name, i.DiskGB)
	w.note(i, "Pulling image %s", i.Image)
	for _, k := range keys {
		w.note(i, "Attached SSH key %s", k.Fingerprint)
	}
	i.Ahead = []transition{
		{w.after(paceStarting), statusStarting}, {w.after(paceRunning), statusRunning}, {w.after(paceReachable), ""},
	}
	w.addInstance(i)
}

// start brings a stopped or outbid server back. A bid that the market has passed is placed anew.
func (w *world) start(i *instance) error {
	switch {
	case i.Status == statusStopped && i.Desired == desiredStopped, i.Status == statusOutbid && i.Desired == desiredRunning && len(i.Ahead) == 0:
	default:
		return stateForbids(i)
	}
	if !i.offer.Online {
		return conflict("Хост этого сервера сейчас недоступен", "The host of this server is away")
	}
	market := i.offer.price(i.Rental)
	rebid := i.Rental == typeInterruptible && (i.Status == statusOutbid || market == nil || *market > i.BidKopH)
	price := i.RunningKopH
	if rebid {
		if market == nil {
			return conflict("Сервер больше не сдаётся с прерыванием", "The server is no longer let as interruptible")
		}
		price = *market + extraDiskKopH(i.offer, i.DiskGB)
	}
	price = w.movedPrice(quirkPriceMovesOnStart, i.offer, price)
	if err := w.requireFunds(price); err != nil {
		return err
	}
	if rebid {
		i.BidKopH = *market
		w.note(i, "New bid: %d kop/h", i.BidKopH)
	}
	i.RunningKopH = price
	i.Desired, i.StopReason = desiredRunning, nil
	i.Ahead = []transition{
		{w.after(paceLag), statusStarting}, {w.after(paceRunning), statusRunning}, {w.after(paceReachable), ""},
	}
	w.remeter(i)
	w.changed(i)
	return nil
}

// stop halts a server that runs or is about to.
func (w *world) stop(i *instance, reason string) error {
	if !i.live() && !(i.Status == statusOutbid && i.Desired == desiredRunning) {
		return stateForbids(i)
	}
	i.Desired, i.StopReason = desiredStopped, &reason
	i.Reachable = false
	switch i.Status {
	case statusRunning:
		i.Ahead = []transition{{w.after(paceLag), statusStopping}, {w.after(2 * paceLag), statusStopped}}
	case statusStopped:
		i.Ahead = nil
	default:
		i.Ahead = []transition{{w.after(paceLag), statusStopped}}
	}
	w.note(i, "Stop requested: %s", reason)
	w.remeter(i)
	w.changed(i)
	return nil
}

// outbid takes the GPU away from a server whose bid is passed.
func (w *world) outbid(i *instance) {
	i.Ahead = nil
	w.enter(i, statusOutbid)
	w.changed(i)
}

// destroy ends a rental. Billing ends at once; the server is free again when the status says destroyed.
func (w *world) destroy(i *instance) error {
	if i.ending() {
		return stateForbids(i)
	}
	i.Desired = desiredDestroyed
	i.Ahead = []transition{{w.after(paceLag), statusDestroyed}}
	w.enter(i, statusDestroying)
	w.changed(i)
	return nil
}

// force puts an instance into a status where it stays until it is asked for something else.
func (w *world) force(i *instance, status string) {
	i.Ahead = nil
	w.enter(i, status)
	i.Reachable = i.Status == statusRunning
	w.changed(i)
}

// vanish takes away the host of an instance: what ran on it is stopped, and not by its owner.
func (w *world) vanish(i *instance) {
	switch i.Status {
	case statusCreating, statusStarting, statusRunning, statusStopping:
	case statusStopped:
		if !i.live() {
			return
		}
	default:
		return
	}
	if i.Desired == desiredRunning {
		i.StopReason = new(stoppedByProvider)
	}
	i.Desired, i.Ahead = desiredStopped, nil
	w.note(i, "The host is gone")
	w.enter(i, statusStopped)
	w.changed(i)
}

func stateForbids(i *instance) error {
	e := conflict("", "")
	e.text = text{"Состояние %s (цель: %s) этого не позволяет", "The state %s (heading to %s) does not allow it"}.with(i.Status, i.Desired)
	return e
}

// maxLogLines is how much of a startup log is kept.
const maxLogLines = 2000

func (w *world) note(i *instance, format string, args ...any) {
	line := w.at.Format("2006-01-02T15:04:05.000Z ") + fmt.Sprintf(format, args...)
	i.Log = append(i.Log, line)
	if extra := len(i.Log) - maxLogLines; extra > 0 {
		i.Log = slices.Delete(i.Log, 0, extra)
	}
}
