package lifecycle

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// logs are the requests for the log of an instance, and ready is the condition that makes them.
const logs = "GET /instances/*/logs"

var ready = Conditions{LogPattern: regexp.MustCompile("^READY$")}

// fakeNetwork is the network of an instance.
type fakeNetwork struct {
	banner string    // of the SSH server; empty for a refused connection
	status int       // of the web pages; 0 for a refused connection
	starts time.Time // of the SSH server
	sent   []*http.Request
}

func (f *fakeNetwork) dial(_ context.Context, _, _ string) (net.Conn, error) {
	if f.banner == "" || time.Now().Before(f.starts) {
		return nil, errors.New("connection refused")
	}
	client, server := net.Pipe()
	go func() {
		io.WriteString(server, f.banner) //nolint:errcheck // the client may close first
		server.Close()
	}()
	return client, nil
}

func (f *fakeNetwork) RoundTrip(req *http.Request) (*http.Response, error) {
	f.sent = append(f.sent, req)
	if f.status == 0 {
		return nil, errors.New("connection refused")
	}
	header := http.Header{"Location": {"http://203.0.113.2/"}}
	return &http.Response{StatusCode: f.status, Header: header, Body: http.NoBody, Request: req}, nil
}

// withRunning runs a test in a synctest bubble, with an instance that runs in a network.
func withRunning(t *testing.T, fake *fakeNetwork, test func(t *testing.T, s *service, m *Manager)) {
	t.Helper()
	withInstance(t, rental.OnDemand, "running", func(t *testing.T, s *service, m *Manager) {
		is(rental.StatusRunning, rental.DesiredRunning)(&s.Inst)
		s.Inst.URLs = []rental.InstanceURL{{Label: "Jupyter", URL: new("http://203.0.113.1:8888/")}}
		m.network = network{fake.dial, fake}
		test(t, s, m)
	})
}

// targetOf is a running instance that meets conditions.
func targetOf(ready Conditions) Target {
	return Target{State: rental.DesiredRunning, OnOutbid: OutbidKeep, Ready: ready}
}

// A response that omits the web pages does not meet the condition. Without pages in the template, it does.
func TestConverge_OmittedURLs(t *testing.T) {
	for _, expected := range []bool{true, false} {
		withRunning(t, &fakeNetwork{status: 503}, func(t *testing.T, s *service, m *Manager) {
			c := &converger{manager: m, target: targetOf(Conditions{URLsReachable: true})}
			c.addresses = &addresses{ssh: true, urls: expected}
			inst := s.Inst
			inst.URLs, inst.Omitted.URLs = nil, true
			if met := c.meetsConditions(t.Context(), inst); met == expected {
				t.Errorf("pages expected %t: met %t", expected, met)
			}
		})
	}
}

// An instance is ready when it meets all conditions. The error of a timeout has the conditions that it does not meet.
func TestConverge_Conditions(t *testing.T) {
	const version = "SSH-2.0-x\r\n"
	all := Conditions{SSHReachable: true, URLsReachable: true, LogPattern: ready.LogPattern}
	for name, test := range map[string]struct {
		conditions Conditions
		after      time.Duration // until there is an SSH server
		banner     string
		status     int
		log        string
		unmet      string // names of the conditions
		text       string // part of an error
	}{
		"nothing demanded":     {conditions: Conditions{}},
		"all met":              {conditions: all, banner: version, status: 404, log: "READY"},
		"lines before version": {conditions: Conditions{SSHReachable: true}, banner: "welcome\r\n" + version},
		"connection refused":   {conditions: all, status: 200, log: "READY", unmet: "ssh_reachable", text: "refused"},
		"no SSH server": {
			conditions: Conditions{SSHReachable: true}, banner: "220 smtp\r\n",
			unmet: "ssh_reachable", text: "no SSH version",
		},
		"page fails": {
			conditions: all, banner: version, status: 500, log: "READY",
			unmet: "urls_reachable", text: "Jupyter: the page answers with status 500",
		},
		"no line matches": {
			conditions: all, banner: version, status: 200, log: "not READY",
			unmet: "log_pattern", text: "none of the last 1 lines matches the pattern",
		},
		"line with a carriage return": {conditions: ready, log: "READY\r"},
		"nothing met":                 {conditions: all, unmet: "ssh_reachable urls_reachable log_pattern"},
		"met later":                   {conditions: Conditions{SSHReachable: true}, banner: version, after: 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			fake := &fakeNetwork{banner: test.banner, status: test.status}
			withRunning(t, fake, func(t *testing.T, s *service, m *Manager) {
				s.Script(logs, rentaltest.Respond(200, map[string]any{"lines": []string{test.log}}))
				began := time.Now()
				fake.starts = began.Add(test.after)
				ctx := within(t, 10*time.Minute)
				_, err := m.Converge(ctx, s.Inst, targetOf(test.conditions))
				if took := time.Since(began); err == nil && (took < test.after || took > test.after+time.Minute) {
					t.Errorf("it took %s", took)
				}
				unmet, text := "", ""
				notReady, _ := errors.AsType[NotReady](err)
				for _, u := range notReady.Unmet {
					unmet = strings.TrimSpace(unmet + " " + u.Condition)
					text += u.Err.Error()
				}
				if unmet != test.unmet || (err == nil) != (unmet == "") || !strings.Contains(text, test.text) {
					t.Errorf("unmet %q, %v: %s", unmet, err, text)
				}
			})
		})
	}
}

// A page receives one GET request without the API key. Redirects are not followed.
func TestCheckURLs_RequestWithoutKey(t *testing.T) {
	fake := &fakeNetwork{status: http.StatusFound}
	withRunning(t, fake, func(t *testing.T, s *service, m *Manager) {
		if _, err := m.Converge(t.Context(), s.Inst, targetOf(Conditions{URLsReachable: true})); err != nil {
			t.Fatal(err)
		}
	})
	if len(fake.sent) != 1 || fake.sent[0].Method != http.MethodGet || len(fake.sent[0].Header) > 0 {
		t.Errorf("sent %v", fake.sent)
	}
}

// Many instances that wait for their logs read 30 logs in a minute together, after 15 at once.
func TestLogBudget(t *testing.T) {
	withRunning(t, nil, func(t *testing.T, s *service, m *Manager) {
		s.Script(logs, rentaltest.Respond(200, map[string]any{"lines": []string{}}))
		ctx := within(t, 10*time.Minute)
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { _, _ = m.Converge(ctx, s.Inst, targetOf(ready)) }) //nolint:errcheck // it times out
		}
		all.Wait()
		if n := len(s.Sent(logs)); n > 10*30+logBurst || n < 10*25 {
			t.Errorf("%d logs were read in ten minutes", n)
		}
	})
}

// While the log cannot be read, each read is one request, and does not delay the observation of the instance.
func TestConverge_LogUnavailable(t *testing.T) {
	withRunning(t, nil, func(t *testing.T, s *service, m *Manager) {
		s.Script(logs, rentaltest.Fail(http.StatusServiceUnavailable))
		s.Later(10*time.Minute, is(rental.StatusFailed, rental.DesiredRunning))
		began := time.Now()
		_, err := m.Converge(t.Context(), s.Inst, targetOf(ready))
		took := time.Since(began)
		if errorName(err) != "NeedsReplacement" || took > 10*time.Minute+35*time.Second {
			t.Errorf("the failure was observed after %s: %v", took, err)
		}
		if n := len(s.Sent(logs)); n > 2*10+2 {
			t.Errorf("%d requests for the log in ten minutes", n)
		}
	})
}

// lateContext is a context right after its deadline, when its timer has not fired yet.
type lateContext struct{ context.Context }

func (lateContext) Deadline() (time.Time, bool) { return time.Now(), true }

// Checks that the end of the run cuts off do not replace the results of the checks before them.
func TestConverge_ChecksCutOff(t *testing.T) {
	fake := &fakeNetwork{banner: "220 smtp\r\n"}
	withRunning(t, fake, func(t *testing.T, s *service, m *Manager) {
		c := &converger{manager: m, target: targetOf(Conditions{SSHReachable: true})}
		c.meetsConditions(t.Context(), s.Inst)
		fake.banner = "" // a connection fails
		c.meetsConditions(lateContext{t.Context()}, s.Inst)
		if len(c.unmet) != 1 || !strings.Contains(c.unmet[0].Err.Error(), "no SSH version") {
			t.Errorf("unmet %v", c.unmet)
		}
	})
}
