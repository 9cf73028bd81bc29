package tfinstance

import (
	"context"
	"errors"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// StopAdvice returns the next step for a stop reason.
func StopAdvice(reason string) tfkit.Text {
	switch reason {
	case rental.StopReasonUser:
		return "It was stopped by a user, for example with another client. To keep it stopped, set desired_state = " +
			"\"stopped\". Otherwise apply again: that starts it."
	case rental.StopReasonLowBalance:
		return "It was stopped because of a low balance. Top up the balance in the service's console, then apply again."
	case rental.StopReasonAdmin:
		return "It was stopped by the service's staff. Contact their support with the id of the instance."
	case rental.StopReasonProvider:
		return "It was stopped because its host went offline. Apply again later. If the host stays offline, replace the " +
			"instance with -replace."
	}
	return tfkit.Textf("It was stopped for a reason that this version of the provider does not support: %q. Apply again "+
		"to start it, or update the provider.", reason)
}

// LogTimeout bounds the request of LastSeen for the log. An interrupted run sends none.
const LogTimeout = 3 * time.Second

// lastLogLines is the number of startup log lines in a message, and maxLogLine the number of characters of each.
const (
	lastLogLines = 5
	maxLogLine   = 300
)

// LastSeen describes an instance as last read: its status, its stop reason, and the end of its log. inst has no status
// if it could not be read.
func LastSeen(ctx context.Context, client *rental.Client, inst rental.Instance) tfkit.Text {
	if inst.Status == "" {
		return "The API did not return the instance before that, so nothing was requested."
	}
	text := tfkit.Textf("Last seen: status %q, desired state %q", inst.Status, inst.DesiredState)
	if burn := inst.BurnKopH(); burn > 0 {
		text += ", costs " + tfkit.PerHour(burn)
	}
	text += "."
	if inst.Status == rental.StatusRunning && inst.DesiredState != rental.DesiredStopped && inst.SSH == nil {
		text += " It has no SSH address."
	}
	if inst.StopReason != nil {
		text += "\n" + StopAdvice(*inst.StopReason)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return text
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), LogTimeout)
	defer cancel()
	lines, err := client.GetInstanceLogs(ctx, inst.ID, lastLogLines)
	if err == nil && len(lines) > 0 {
		text += "\nThe end of its log:" + tfkit.Lines(lines[max(0, len(lines)-lastLogLines):],
			func(line string) tfkit.Text { return tfkit.Text(rental.Printable(line, maxLogLine)) })
	}
	return text
}
