package instance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// invocation is an action under way. Its context ends when the user interrupts it,
// and when its time is over.
type invocation struct {
	errand
	action *instanceAction
	teller *teller
	diags  *diag.Diagnostics
	halted bool // it has stopped the server, which is still to be started
}

// run looks at the server, and does what is to be done.
func (v *invocation) run(ctx context.Context) {
	inst, err := fleetOf(v.action.Meta).watch.afresh(ctx, v.action.Meta.Client, v.id)
	if err == nil {
		err = hopeless(inst)
	}
	if err != nil {
		inst.ID = v.id
		v.report(ctx, inst, err)
		return
	}
	v.teller.saw(inst)
	v.action.do(ctx, v, inst)
}

// hopeless is why nothing can be done with a server any more; nil when something can.
func hopeless(inst rental.Instance) error {
	switch judge(sightingOf(inst), rental.DesiredRunning, outbidRestart) {
	case stepGone:
		return errGone
	case stepReplace:
		return errNeedsReplacement
	default:
		return nil
	}
}

func sightingOf(inst rental.Instance) sighting {
	return sighting{status: inst.Status, desired: inst.DesiredState}
}

func start(ctx context.Context, v *invocation, inst rental.Instance) {
	if v.affordable(ctx, inst) {
		v.bring(ctx, inst, rental.DesiredRunning)
	}
}

func stop(ctx context.Context, v *invocation, inst rental.Instance) {
	v.bring(ctx, inst, rental.DesiredStopped)
}

func restart(ctx context.Context, v *invocation, inst rental.Instance) {
	if !stopsFirst(inst) {
		why := "is on its way already, so it is not stopped first"
		if inst.Status == rental.StatusStopped || inst.Status == rental.StatusOutbid {
			why = "does not run, so it is only started"
		}
		v.teller.tell("%s", why)
		start(ctx, v, inst)
		return
	}
	if !v.startsAgain(ctx, inst) || !v.affordable(ctx, inst) {
		return
	}
	inst, ok := v.bring(ctx, inst, rental.DesiredStopped)
	if !ok {
		return
	}
	v.halted = true
	v.bring(ctx, inst, rental.DesiredRunning)
}

// stopsFirst says whether a restart has to stop the server: not when it is on its
// way down, or up, by itself.
func stopsFirst(inst rental.Instance) bool {
	return inst.Status == rental.StatusRunning && judge(sightingOf(inst), rental.DesiredStopped, outbidRestart) == stepStop
}

// affordable holds what the action costs against the account, as its plan did where
// the server was known. Of money that only may be missing that has warned.
func (v *invocation) affordable(ctx context.Context, inst rental.Instance) bool {
	var found diag.Diagnostics
	checkMoney(ctx, v.action.Meta, v.action.costs(inst), &found)
	v.diags.Append(found.Errors()...)
	return !found.HasError()
}

// startsAgain says whether a server may be stopped to be started again: not when
// it is certain that the start would be refused. While a server runs, the market has
// not passed its bid, so that what it costs now bounds what a new bid would cost.
func (v *invocation) startsAgain(ctx context.Context, inst rental.Instance) bool {
	if price := priceWithoutDisk(inst, inst.Price.StoppedKopH); v.maxPrice > 0 && price > v.maxPrice {
		addAboveCapToRestart(v.diags, inst, &priceError{price: price, limit: v.maxPrice})
		return false
	}
	if inst.Type == rental.Interruptible {
		return true // its next bid may cost less
	}
	meta := v.action.Meta
	balance, err := fleetOf(meta).funds.Get(ctx, meta.MaxAge(recently), meta.Client.GetBalance)
	if err != nil {
		tflog.Debug(ctx, "The balance cannot be read, so the restart is not held against it", map[string]any{"error": err.Error()})
		return true
	}
	if text := shortOfFunds(balance, inst.Price.RunningKopH); text != "" {
		addNoFundsToRestart(v.diags, inst, text)
		return false
	}
	return true
}

// bring takes the server to where it is wanted, and says so.
func (v *invocation) bring(ctx context.Context, inst rental.Instance, wanted rental.DesiredState) (rental.Instance, bool) {
	s := newSettler(v.action.Meta, wanted, outbidRestart, v.maxPrice)
	s.teller = v.teller
	s.reserve = func(ctx context.Context, inst rental.Instance) (func(), error) {
		return reserveStart(ctx, v.action.Meta, inst, v.diags)
	}
	now, err := s.settle(ctx, inst)
	if err != nil {
		v.report(ctx, now, err)
		return now, false
	}
	v.teller.tell("%s", ended(now, s.last == nil && now.Status == inst.Status && (now.SSH == nil) == (inst.SSH == nil)))
	s.warnOfMissing(v.diags, now)
	return now, true
}

// ended is where a server is at the end.
func ended(inst rental.Instance, untouched bool) string {
	already := ""
	if untouched {
		already = " already, there was nothing to do"
	}
	switch {
	case inst.Status != rental.StatusRunning:
		return "is " + tfkit.OneLine(inst.Status) + already + ": only its disk is billed, " + tfkit.Rubles(inst.Price.StoppedKopH) + " per hour"
	case inst.SSH != nil:
		if login := tfkit.OneLine(sshCommand(*inst.SSH).ValueString()); login != "" {
			return "runs" + already + ": " + login
		}
	}
	return "runs" + already
}
