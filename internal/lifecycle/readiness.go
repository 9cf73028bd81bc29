package lifecycle

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// The number of poll intervals that a running instance may lack an address before it counts as ready without it.
const (
	// noSSHIntervals is for the SSH address if the template has no SSH.
	noSSHIntervals = 6
	// urlIntervals is for the addresses of web pages. A page that opens hours later must not fail the apply.
	urlIntervals = 24
	// sshIntervals is for the SSH address if the template has SSH. The field is optional, so it may never be returned.
	sshIntervals = 120
	// minObservations is the minimum number of reads in that time, because a single response may omit an address.
	minObservations = 10
)

// SSHTimeout is how long a running instance may lack its SSH address.
func (m *Manager) SSHTimeout() time.Duration { return sshIntervals * m.PollInterval }

// readiness reports from observations whether a running instance is ready.
type readiness struct {
	runningSince time.Time
	observations int        // of it running
	addresses    *addresses // that its template provides; nil until it was read
	noSSH        bool       // it lacks the SSH address that its template provides

	met     []string // conditions, which stay met until the instance stops
	unmet   []Unmet
	logRead time.Time // when the log was read last
	logErr  error     // why it did not match
}

// addresses lists the addresses that a running instance of a template gets.
type addresses struct{ ssh, urls bool }

// isReady reports whether an instance in the desired state can be used. A running instance needs the addresses of its
// web pages, the SSH address if its template has SSH, and the conditions of the target.
func (c *converger) isReady(ctx context.Context, inst rental.Instance) bool {
	if inst.Status != rental.StatusRunning {
		return true
	}
	return c.hasAddresses(ctx, inst) && c.meetsConditions(ctx, inst)
}

func (c *converger) hasAddresses(ctx context.Context, inst rental.Instance) bool {
	if c.runningSince.IsZero() {
		c.runningSince = time.Now()
	}
	c.observations++
	if inst.SSH == nil && c.expectsSSH(ctx, inst) {
		return false
	}
	c.noSSH = inst.SSH == nil && (c.addresses == nil || c.addresses.ssh)
	if inst.Omitted.URLs {
		return c.observations >= minObservations || !c.expected(ctx, inst).urls
	}
	missing := slices.ContainsFunc(inst.URLs, func(page rental.InstanceURL) bool { return page.URL == nil })
	return !missing || c.ranFor(urlIntervals)
}

// ranFor reports whether the instance has run for a number of poll intervals with at least minObservations reads.
func (c *converger) ranFor(intervals int) bool {
	return c.observations >= minObservations &&
		time.Since(c.runningSince) >= time.Duration(intervals)*c.manager.PollInterval
}

// expectsSSH reports whether the instance may still get an SSH address.
func (c *converger) expectsSSH(ctx context.Context, inst rental.Instance) bool {
	if time.Since(c.runningSince) < noSSHIntervals*c.manager.PollInterval {
		return true
	}
	return !c.ranFor(sshIntervals) && c.expected(ctx, inst).ssh
}

// expected returns the addresses that the template of an instance has, which it reads once. A template that cannot be
// read may have all, a deleted template has no known ones, and a template that launches an entrypoint has no SSH.
func (c *converger) expected(ctx context.Context, inst rental.Instance) addresses {
	if c.addresses == nil {
		template, found, err := c.manager.Template(ctx, cmp.Or(inst.Template.Slug, c.target.Template))
		if err != nil {
			return addresses{ssh: true, urls: true}
		}
		c.addresses = &addresses{ssh: found && template.LaunchMode != rental.LaunchEntrypoint, urls: len(template.Ports) > 0}
	}
	return *c.addresses
}
