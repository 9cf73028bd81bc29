package instance

import (
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
)

// ready says whether a server that is where it is wanted can be used: a running
// one needs its SSH address, unless its template has none, and its web pages.
func (s *settler) ready(ctx context.Context, inst rental.Instance) (bool, error) {
	if inst.Status != rental.StatusRunning {
		return true, nil
	}
	if s.runningAt.IsZero() {
		s.runningAt = time.Now()
	}
	if inst.SSH == nil {
		if expected, err := s.expects(ctx, inst); expected || err != nil {
			return false, err
		}
	}
	return len(closedPages(inst)) == 0 || time.Since(s.runningAt) >= linkIntervals*s.interval, nil
}

// expects says whether the SSH address of a running server is still to come.
func (s *settler) expects(ctx context.Context, inst rental.Instance) (bool, error) {
	if time.Since(s.runningAt) < graceIntervals*s.interval {
		return true, nil
	}
	if s.expectsSSH == nil {
		expected, err := s.templateHasSSH(ctx, inst.Template.Slug)
		if err != nil {
			return false, err
		}
		s.expectsSSH = &expected
	}
	return *s.expectsSSH, nil
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
