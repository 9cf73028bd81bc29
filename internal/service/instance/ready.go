package instance

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

const (
	// graceIntervals is how many poll intervals a running server without SSH is
	// watched before it counts as ready, where its template has no SSH.
	graceIntervals = 6
	// linkIntervals is how many a running server is given to open its web pages. A
	// page that opens only after hours of loading must not fail the server.
	linkIntervals = 24
	// sshIntervals is how many a running server is given to get its SSH address where its template
	// has SSH. The service may never return one, because the field is optional.
	sshIntervals = 120
	// minObservations is how often a running server is observed before the end of these intervals counts: a single
	// answer may omit an address, and the service may answer rarely.
	minObservations = 10
)

// expectation is what a running server of a template gets.
type expectation struct{ ssh, pages bool }

// ready says whether a server that is where it is wanted can be used: a running
// one needs its SSH address, unless its template has none, and its web pages.
func (s *settler) ready(ctx context.Context, inst rental.Instance) bool {
	if inst.Status != rental.StatusRunning {
		return true
	}
	if s.runningAt.IsZero() {
		s.runningAt = time.Now()
	}
	s.observed++
	if inst.SSH == nil && s.expectsSSH(ctx, inst) {
		return false
	}
	s.lacksSSH = inst.SSH == nil && (s.expects == nil || s.expects.ssh)
	if inst.Omitted.URLs {
		return s.observed >= minObservations || !s.expectsPages(ctx, inst)
	}
	return len(closedPages(inst)) == 0 || s.observedFor(linkIntervals)
}

// observedFor reports whether the server has been running for so many poll intervals, and was observed often enough.
func (s *settler) observedFor(intervals int) bool {
	return s.observed >= minObservations && time.Since(s.runningAt) >= time.Duration(intervals)*s.interval
}

// expectsSSH reports whether the SSH address of a running server is still to come. When its
// template cannot be read, it is.
func (s *settler) expectsSSH(ctx context.Context, inst rental.Instance) bool {
	switch {
	case time.Since(s.runningAt) < graceIntervals*s.interval:
		return true
	case s.observedFor(sshIntervals):
		return false
	}
	expected, err := s.expected(ctx, inst)
	return err != nil || expected.ssh
}

// expectsPages reports whether the template of a server has web pages. When it cannot be read, it has.
func (s *settler) expectsPages(ctx context.Context, inst rental.Instance) bool {
	expected, err := s.expected(ctx, inst)
	return err != nil || expected.pages
}

// expected looks up the template of a server, once. A template that is deleted says nothing of what is to come, and one
// that launches an entrypoint has no SSH.
func (s *settler) expected(ctx context.Context, inst rental.Instance) (expectation, error) {
	if s.expects == nil {
		template, found, err := tfkit.FindTemplate(ctx, s.meta, cmp.Or(inst.Template.Slug, s.template))
		if err != nil {
			return expectation{}, err
		}
		s.expects = &expectation{ssh: found && template.LaunchMode != rental.LaunchEntrypoint, pages: len(template.Ports) > 0}
	}
	return *s.expects, nil
}

// closedPages are the labels of the web pages that have no address yet.
func closedPages(inst rental.Instance) []string {
	var labels []string
	for _, page := range inst.URLs {
		if page.URL == nil {
			labels = append(labels, page.Label)
		}
	}
	slices.Sort(labels)
	return labels
}
