package simulator

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Durations of transitions in percent of the boot time.
const (
	shareStarting  = 30  // from creating to starting
	shareRunning   = 100 // to running
	shareReachable = 120 // until ports are assigned
	shareLag       = 12  // until a status follows an accepted request
)

func (e *engine) afterBootShare(percent int64) time.Time {
	return e.Now.Add((e.config.Boot * time.Duration(percent) / 100).Truncate(clockResolution))
}

// applyTransition applies the next transition of an instance.
func (e *engine) applyTransition(i *instance) {
	to := i.Ahead[0].To
	i.Ahead = i.Ahead[1:]
	if to == "" {
		i.Reachable = true
		e.logf(i, "Ports assigned")
	} else {
		e.setStatus(i, to)
	}
	e.instanceChanged(i)
}

// setStatus changes the status of an instance now, with all effects of the status.
func (e *engine) setStatus(i *instance, status string) {
	i.Status = status
	switch status {
	case statusStarting:
		e.logf(i, "Image %s is ready, starting the container", i.Image)
	case statusRunning:
		first := i.StartedAt == nil
		if first {
			i.StartedAt = new(e.Now)
		}
		e.logf(i, "Container is running (%s launch)", i.template.LaunchMode)
		if first && i.template.Onstart != nil {
			for line := range strings.Lines(*i.template.Onstart) { // as a shell with -x prints it
				e.logf(i, "+ %s", strings.TrimSpace(line))
			}
		}
		if i.isOutbid() {
			e.outbid(i)
			return
		}
	case statusStopping:
		e.logf(i, "Stopping the container")
	case statusStopped:
		e.logf(i, "Container stopped")
	case statusOutbid:
		e.logf(i, "Outbid: the market price is above the bid of %d kop/h", i.BidKopH)
	case statusFailed:
		e.logf(i, "The instance failed")
	case statusDestroying:
		e.logf(i, "Destroying the server and its disk")
	}
	if status != statusRunning {
		i.Reachable = false
	}
	if status == statusDestroyed {
		e.releaseOffer(i)
	}
	e.updateMeter(i)
}

// releaseOffer makes the offer of a destroyed instance available again.
func (e *engine) releaseOffer(i *instance) {
	if i.offer.rentedBy == i {
		i.offer.rentedBy = nil
	}
	if n := slices.Index(e.active, i); n >= 0 {
		e.active = slices.Delete(e.active, n, n+1)
	}
}

// updateMeter bills the instance at the rate of its status from now on, and posts the usage until now.
func (e *engine) updateMeter(i *instance) {
	rate := i.rateKopH()
	if rate == i.Meter.Rate {
		return
	}
	e.unposted.accumulate(e.Now)
	e.unposted.Rate += rate - i.Meter.Rate
	i.Meter.accumulate(e.Now)
	e.postUsage(i)
	i.Meter.setRate(rate, e.Now)
}

// launch starts the first boot of a new instance, with its SSH keys.
func (e *engine) launch(i *instance, keys []*sshKey) {
	e.logf(i, "Renting %d x %s, disk %d GB", i.offer.GPU.Count, i.offer.model.name, i.DiskGB)
	e.logf(i, "Pulling image %s", i.Image)
	for _, k := range keys {
		e.logf(i, "Attached SSH key %s", k.Fingerprint)
	}
	i.Ahead = []transition{
		{e.afterBootShare(shareStarting), statusStarting}, {e.afterBootShare(shareRunning), statusRunning},
		{e.afterBootShare(shareReachable), ""},
	}
	e.Instances = append(e.Instances, i)
	e.linkInstance(i)
}

// start starts a stopped or outbid instance. If the market price is above the bid, it places a new bid.
func (e *engine) start(i *instance) error {
	switch {
	case i.Status == statusStopped && i.Desired == desiredStopped, i.Status == statusOutbid &&
		i.Desired == desiredRunning && len(i.Ahead) == 0:
	default:
		return stateConflict(i)
	}
	market := i.offer.price(i.Rental)
	rebid := i.Rental == typeInterruptible && (i.Status == statusOutbid || market == nil || *market > i.BidKopH)
	price := i.RunningKopH
	if rebid {
		if market == nil {
			return conflict(text{"У предложения больше нет прерываемой цены",
				"The offer no longer has an interruptible price"})
		}
		price = *market + extraDiskKopH(i.offer, i.DiskGB)
	}
	price = e.config.Hooks.LockPrice(i.OfferID, true, price)
	if err := e.requireFunds(price); err != nil {
		return err
	}
	if rebid {
		i.BidKopH = *market
		e.logf(i, "New bid: %d kop/h", i.BidKopH)
	}
	i.RunningKopH = price
	i.Desired, i.StopReason = desiredRunning, nil
	i.Ahead = []transition{
		{e.afterBootShare(shareLag), statusStarting}, {e.afterBootShare(shareRunning), statusRunning},
		{e.afterBootShare(shareReachable), ""},
	}
	e.updateMeter(i)
	e.instanceChanged(i)
	return nil
}

// stop stops an instance that is running or will run.
func (e *engine) stop(i *instance, reason string) error {
	if !i.live() && !(i.Status == statusOutbid && i.Desired == desiredRunning) {
		return stateConflict(i)
	}
	i.Desired, i.StopReason = desiredStopped, &reason
	i.Reachable = false
	switch i.Status {
	case statusRunning:
		i.Ahead = []transition{{e.afterBootShare(shareLag), statusStopping},
			{e.afterBootShare(2 * shareLag), statusStopped}}
	case statusStopped:
		i.Ahead = nil
	default:
		i.Ahead = []transition{{e.afterBootShare(shareLag), statusStopped}}
	}
	e.logf(i, "Stop requested: %s", reason)
	e.updateMeter(i)
	e.instanceChanged(i)
	return nil
}

// outbid takes the GPU away from an instance.
func (e *engine) outbid(i *instance) {
	i.Ahead = nil
	e.setStatus(i, statusOutbid)
	e.instanceChanged(i)
}

// destroy starts the deletion of an instance. Billing ends at once; the offer becomes available when the status is
// destroyed.
func (e *engine) destroy(i *instance) error {
	if i.destroying() {
		return stateConflict(i)
	}
	i.Desired = desiredDestroyed
	i.Ahead = []transition{{e.afterBootShare(shareLag), statusDestroyed}}
	e.setStatus(i, statusDestroying)
	e.instanceChanged(i)
	return nil
}

// force sets a status that holds until the next request.
func (e *engine) force(i *instance, status string) {
	i.Ahead = nil
	e.setStatus(i, status)
	i.Reachable = i.Status == statusRunning
	e.instanceChanged(i)
}

func stateConflict(i *instance) error {
	return conflict(text{"Состояние %s (цель: %s) этого не позволяет",
		"The state %s (desired state %s) does not allow it"}.with(i.Status, i.Desired))
}

// maxLogLines limits the startup log.
const maxLogLines = 2000

func (e *engine) logf(i *instance, format string, args ...any) {
	line := e.Now.Format("2006-01-02T15:04:05.000Z ") + fmt.Sprintf(format, args...)
	i.Log = append(i.Log, line)
	if extra := len(i.Log) - maxLogLines; extra > 0 {
		i.Log = slices.Delete(i.Log, 0, extra)
	}
}
