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

func withNetwork(client *rental.Client, fake *fakeNetwork) *Manager {
	manager := newManager(client)
	manager.network = network{fake.dial, fake}
	return manager
}

func newRunning() *service {
	s := rentaltest.New(rental.OnDemand, rental.StatusRunning, rental.DesiredRunning)
	is(rental.StatusRunning, rental.DesiredRunning)(&s.Inst)
	page := "http://203.0.113.1:8888/"
	s.Inst.URLs = []rental.InstanceURL{{Label: "Jupyter", URL: &page}}
	return s
}

// A response that omits the web pages does not meet the condition. Without pages in the template, it does.
func TestConverge_OmittedURLs(t *testing.T) {
	for _, expected := range []bool{true, false} {
		rentaltest.Run(t, newRunning, func(t *testing.T, s *service, client *rental.Client) {
			c := &converger{manager: withNetwork(client, &fakeNetwork{status: 503}), target: running(OutbidKeep)}
			c.addresses, c.target.Ready.URLsReachable = &addresses{ssh: true, urls: expected}, true
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
	all := Conditions{SSHReachable: true, URLsReachable: true, LogPattern: regexp.MustCompile("^READY$")}
	for name, test := range map[string]struct {
		conditions Conditions
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
		"line with a carriage return": {conditions: Conditions{LogPattern: all.LogPattern}, log: "READY\r"},
		"nothing met":                 {conditions: all, unmet: "ssh_reachable urls_reachable log_pattern"},
	} {
		t.Run(name, func(t *testing.T) {
			rentaltest.Run(t, newRunning, func(t *testing.T, s *service, client *rental.Client) {
				s.Log = []string{test.log}
				manager := withNetwork(client, &fakeNetwork{banner: test.banner, status: test.status})
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				target := running(OutbidKeep)
				target.Ready = test.conditions
				_, err := manager.Converge(ctx, s.Inst, target)
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
	rentaltest.Run(t, newRunning, func(t *testing.T, s *service, client *rental.Client) {
		fake, target := &fakeNetwork{status: http.StatusFound}, running(OutbidKeep)
		target.Ready = Conditions{URLsReachable: true}
		if _, err := withNetwork(client, fake).Converge(t.Context(), s.Inst, target); err != nil {
			t.Fatal(err)
		}
		if len(fake.sent) != 1 || fake.sent[0].Method != http.MethodGet || len(fake.sent[0].Header) > 0 {
			t.Errorf("sent %v", fake.sent)
		}
	})
}

// A condition that is met later ends the wait.
func TestConverge_ConditionMetLater(t *testing.T) {
	rentaltest.Run(t, newRunning, func(t *testing.T, s *service, client *rental.Client) {
		began, target := time.Now(), running(OutbidKeep)
		target.Ready = Conditions{SSHReachable: true}
		fake := &fakeNetwork{banner: "SSH-2.0-x\r\n", starts: began.Add(5 * time.Minute)}
		_, err := withNetwork(client, fake).Converge(t.Context(), s.Inst, target)
		if took := time.Since(began); err != nil || took < 5*time.Minute || took > 6*time.Minute {
			t.Errorf("it took %s, %v", took, err)
		}
	})
}

// Many instances that wait for their logs read 30 logs in a minute together, after 15 at once.
func TestLogBudget(t *testing.T) {
	rentaltest.Run(t, newRunning, func(t *testing.T, s *service, client *rental.Client) {
		manager := newManager(client)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		target := running(OutbidKeep)
		target.Ready = Conditions{LogPattern: regexp.MustCompile("READY")}
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { _, _ = manager.Converge(ctx, s.Inst, target) }) //nolint:errcheck // it times out
		}
		all.Wait()
		if s.LogReads > 10*30+logBurst || s.LogReads < 10*25 {
			t.Errorf("%d logs were read in ten minutes", s.LogReads)
		}
	})
}

// While the log cannot be read, each read is one request, and does not delay the observation of the instance.
func TestConverge_LogUnavailable(t *testing.T) {
	rentaltest.Run(t, newRunning, func(t *testing.T, s *service, client *rental.Client) {
		s.On["logs"] = replies(http.StatusServiceUnavailable)
		s.Later(10*time.Minute, is(rental.StatusFailed, rental.DesiredRunning))
		target := running(OutbidKeep)
		target.Ready = Conditions{LogPattern: regexp.MustCompile("READY")}
		began := time.Now()
		_, err := newManager(client).Converge(t.Context(), s.Inst, target)
		took := time.Since(began)
		if errorName(err) != "NeedsReplacement" || took > 10*time.Minute+35*time.Second {
			t.Errorf("the failure was observed after %s: %v", took, err)
		}
		if s.LogReads > 2*10+2 {
			t.Errorf("%d requests for the log in ten minutes", s.LogReads)
		}
	})
}

// lateContext is a context right after its deadline, when its timer has not fired yet.
type lateContext struct{ context.Context }

func (lateContext) Deadline() (time.Time, bool) { return time.Now(), true }

// Checks that the end of the run cuts off do not replace the results of the checks before them.
func TestConverge_ChecksCutOff(t *testing.T) {
	rentaltest.Run(t, newRunning, func(t *testing.T, s *service, client *rental.Client) {
		fake := &fakeNetwork{banner: "220 smtp\r\n"}
		c := &converger{manager: withNetwork(client, fake), target: running(OutbidKeep)}
		c.target.Ready.SSHReachable = true
		c.meetsConditions(t.Context(), s.Inst)
		fake.banner = "" // a connection fails
		c.meetsConditions(lateContext{t.Context()}, s.Inst)
		if len(c.unmet) != 1 || !strings.Contains(c.unmet[0].Err.Error(), "no SSH version") {
			t.Errorf("unmet %v", c.unmet)
		}
	})
}
