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
	if inst.SSH == nil && s.expects(ctx, inst) {
		return false
	}
	s.lacksSSH = inst.SSH == nil && (s.expectsSSH == nil || *s.expectsSSH)
	return len(closedPages(inst)) == 0 || s.observedFor(linkIntervals)
}

// observedFor reports whether the server has been running for so many poll intervals, and was observed often enough.
func (s *settler) observedFor(intervals int) bool {
	return s.observed >= minObservations && time.Since(s.runningAt) >= time.Duration(intervals)*s.interval
}

// expects reports whether the SSH address of a running server is still to come. When its
// template cannot be read, it is.
func (s *settler) expects(ctx context.Context, inst rental.Instance) bool {
	switch {
	case time.Since(s.runningAt) < graceIntervals*s.interval:
		return true
	case s.observedFor(sshIntervals):
		return false
	}
	if s.expectsSSH == nil {
		expected, err := s.templateHasSSH(ctx, cmp.Or(inst.Template.Slug, s.template))
		if err != nil {
			return true
		}
		s.expectsSSH = &expected
	}
	return *s.expectsSSH
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

// templateHasSSH is false for a template that launches an entrypoint, and for
// one that is deleted: then nothing says that SSH is to come.
func (s *settler) templateHasSSH(ctx context.Context, slug string) (bool, error) {
	template, found, err := tfkit.FindTemplate(ctx, s.meta, slug)
	return found && template.LaunchMode != rental.LaunchEntrypoint, err
}
