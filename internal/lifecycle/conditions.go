package lifecycle

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Conditions are what a running instance must meet to count as ready, in addition to its addresses. The zero value
// demands nothing.
type Conditions struct {
	SSHReachable  bool           // its SSH server sends a banner
	URLsReachable bool           // each of its web pages answers with a status below 500
	LogPattern    *regexp.Regexp // matches a line of its startup log; nil if there is no such condition
}

const (
	// probeTimeout limits one connection to an instance.
	probeTimeout = 5 * time.Second
	// maxBannerBytes limits the lines that an SSH server may send before its version (RFC 4253, section 4.2).
	maxBannerBytes = 16 << 10
	// logTail is the number of lines that are read of a startup log, the maximum of the API.
	logTail = 1000
)

// network connects to instances.
type network struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)
	http http.RoundTripper
}

func newNetwork() network {
	dialer := &net.Dialer{}
	return network{dial: dialer.DialContext, http: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, DisableKeepAlives: true,
		TLSHandshakeTimeout: probeTimeout,
	}}
}

// meetsConditions reports whether a running instance meets the conditions of the target.
func (c *converger) meetsConditions(ctx context.Context, inst rental.Instance) bool {
	var checks []func() Unmet
	add := func(demanded bool, name string, check func(context.Context, rental.Instance) error) {
		if demanded && !slices.Contains(c.met, name) {
			checks = append(checks, func() Unmet {
				return Unmet{Condition: name, Err: check(ctx, inst)}
			})
		}
	}
	add(c.target.Ready.SSHReachable, "ssh_reachable", c.manager.network.checkSSH)
	add(c.target.Ready.URLsReachable, "urls_reachable", c.checkURLs)
	add(c.target.Ready.LogPattern != nil, "log_pattern", c.checkLog)
	results := make([]Unmet, len(checks))
	var all sync.WaitGroup
	for i, check := range checks {
		all.Go(func() { results[i] = check() })
	}
	all.Wait()
	// A connection times out at the deadline of its context, which can be a moment before the context is done.
	deadline, ok := ctx.Deadline()
	if cutOff := ctx.Err() != nil || ok && !time.Now().Before(deadline); cutOff && c.unmet != nil {
		return false // keep the results of the last checks
	}
	c.unmet = nil
	for _, result := range results {
		if result.Err == nil {
			c.met = append(c.met, result.Condition)
		} else {
			c.unmet = append(c.unmet, result)
		}
	}
	return len(c.unmet) == 0
}

// checkSSH connects to the SSH server of an instance and reads its version.
func (n network) checkSSH(ctx context.Context, inst rental.Instance) error {
	if inst.SSH == nil {
		return errors.New("it has no SSH address")
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	address := net.JoinHostPort(inst.SSH.Host, strconv.FormatInt(inst.SSH.Port, 10))
	conn, err := n.dial(ctx, "tcp", address)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	defer conn.Close()
	lines := bufio.NewScanner(io.LimitReader(conn, maxBannerBytes))
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "SSH-") {
			return nil
		}
	}
	return fmt.Errorf("%s accepts connections, but sends no SSH version", address)
}

// checkURLs requests each web page of an instance. A response without the pages does not meet the condition, unless the
// template has none.
func (c *converger) checkURLs(ctx context.Context, inst rental.Instance) error {
	if inst.Omitted.URLs && c.expected(ctx, inst).urls {
		return errors.New("the API did not return the pages")
	}
	n := c.manager.network
	results := make([]error, len(inst.URLs))
	var all sync.WaitGroup
	for i, page := range inst.URLs {
		all.Go(func() {
			if err := n.checkURL(ctx, page); err != nil {
				results[i] = fmt.Errorf("%s: %w", page.Label, err)
			}
		})
	}
	all.Wait()
	return errors.Join(results...)
}

func (n network) checkURL(ctx context.Context, page rental.InstanceURL) error {
	if page.URL == nil {
		return errors.New("it has no address")
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, *page.URL, nil)
	if err != nil || req.URL.Scheme != "http" && req.URL.Scheme != "https" {
		return errors.New("its address is not an HTTP address")
	}
	resp, err := n.http.RoundTrip(req) // without redirects: they are answers, too
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusInternalServerError {
		return fmt.Errorf("the page answers with status %d", resp.StatusCode)
	}
	return nil
}

// checkLog reads the end of the startup log if that is due, and searches for a line that matches the pattern.
func (c *converger) checkLog(ctx context.Context, inst rental.Instance) error {
	if c.logErr == nil {
		c.logErr = errors.New("the log was not read yet")
	}
	if time.Since(c.logRead) < logIntervals*c.manager.PollInterval || !c.manager.logs.Allow() {
		return c.logErr
	}
	c.logRead = time.Now()
	// Retries would delay the next observation of the instance, and exceed the budget.
	lines, err := c.manager.Client.WithoutRetries().GetInstanceLogs(ctx, inst.ID, logTail)
	matches := func(line string) bool { return c.target.Ready.LogPattern.MatchString(strings.TrimRight(line, "\r\n")) }
	switch {
	case err != nil:
		c.logErr = fmt.Errorf("the log cannot be read: %w", err)
	case slices.ContainsFunc(lines, matches):
		return nil
	default:
		c.logErr = fmt.Errorf("none of the last %d lines matches the pattern", len(lines))
	}
	return c.logErr
}

const (
	// logIntervals is the time between two reads of the log of one instance, in poll intervals.
	logIntervals = 6
	// logsPerSecond is the number of logs that all waits read, a quarter of the request limit, and logBurst how many at
	// once.
	logsPerSecond = 0.5
	logBurst      = 15
)
