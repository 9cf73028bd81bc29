package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const (
	// perKey and perAddress are the service's own limits, requests per minute.
	perKey, perAddress = 120, 60
	// diskGB is what every server here has.
	diskGB = 20
	// offersPerScale is how many offers a market of scale 1 has for certain.
	offersPerScale = 60
	// maxLogged stays below what the simulator keeps of its requests, so that none
	// is missing from a count.
	maxLogged = 9_000
	// plenty is in kopecks and pays for every server here.
	plenty     = 900_000_000_000
	maxServers = 5_000

	requestTimeout = 30 * time.Second
)

// instantBoot is for worlds in which nobody measures a creation.
const instantBoot = 10 * time.Millisecond

// world is a simulated service, and what the measurements ask of it themselves.
// What they ask is counted and limited like everything else: they do it while no
// limit is set and nothing is counted.
type world struct {
	*simulator.Server
	latency atomic.Int64 // of every answer, nanoseconds
	http    *http.Client
}

// newWorld starts a service without limits whose account can have many servers.
func newWorld(ctx context.Context, limiter string, boot time.Duration, servers int) (*world, error) {
	if limiter == limitNone {
		limiter = limitWindow
	}
	w := &world{http: &http.Client{Timeout: requestTimeout}}
	server, err := simulator.Start(ctx, simulator.Config{
		Boot: boot, Market: simulator.MarketStill, MarketScale: 1 + servers/offersPerScale, Limiter: limiter, Wrap: w.delay,
	})
	if err != nil {
		return nil, err
	}
	w.Server = server
	w.SetRateLimit(0, 0)
	if err := w.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(plenty)), MaxInstances: new(int64(maxServers))}); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// delay adds the latency to every answer.
func (w *world) delay(next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if latency := time.Duration(w.latency.Load()); latency > 0 {
			timer := time.NewTimer(latency)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-r.Context().Done():
				return
			}
		}
		next.ServeHTTP(out, r)
	})
}

// prepare makes the service one of the cell's kind, with its whole limit there
// and no request counted.
func (w *world) prepare(c Cell) {
	w.latency.Store(int64(time.Duration(c.LatencyMS) * time.Millisecond))
	if c.limited() {
		w.SetRateLimit(perKey, perAddress)
	} else {
		w.SetRateLimit(0, 0)
	}
	w.ClearRequests()
}

// tally counts the requests since prepare.
func (w *world) tally() (Tally, error) {
	requests := w.Requests()
	if len(requests) > maxLogged {
		return Tally{}, fmt.Errorf("%d requests: more than can be counted", len(requests))
	}
	return count(requests), nil
}

// spend makes so many requests with the key, as another process would.
func (w *world) spend(ctx context.Context, requests int) error {
	for range requests {
		var balance struct{}
		if err := w.get(ctx, "/balance", &balance); err != nil {
			return err
		}
	}
	return nil
}

// offers are the ids of so many different offers that can be rented now.
func (w *world) offers(ctx context.Context, n int) ([]string, error) {
	type offer struct {
		ID   string
		Disk struct {
			MaxGB *int64 `json:"max_gb"`
		}
	}
	all, err := list[offer](ctx, w, "/offers?limit=200")
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, o := range all {
		if o.Disk.MaxGB == nil || *o.Disk.MaxGB >= diskGB {
			ids = append(ids, o.ID)
		}
	}
	if len(ids) < n {
		return nil, fmt.Errorf("the market has %d offers, %d are needed", len(ids), n)
	}
	return ids[:n], nil
}

// wantServers is an error unless the account has so many active servers, all in
// the status: a server lost or rented twice is a wrong result however fast.
func (w *world) wantServers(ctx context.Context, n int, status string) error {
	w.latency.Store(0)
	w.SetRateLimit(0, 0)
	servers, err := list[struct{ Status string }](ctx, w, "/instances?limit=200")
	if err != nil {
		return err
	}
	for _, server := range servers {
		if server.Status != status {
			return fmt.Errorf("a server is %s, not %s", server.Status, status)
		}
	}
	if len(servers) != n {
		return fmt.Errorf("the account has %d servers, not %d", len(servers), n)
	}
	return nil
}

// list reads all pages of a listing; the path has a query.
func list[T any](ctx context.Context, w *world, path string) ([]T, error) {
	var all []T
	for cursor := ""; ; {
		var page struct {
			Data []T
			Next *string `json:"next_cursor"`
		}
		if err := w.get(ctx, path+cursor, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Data...)
		if page.Next == nil {
			return all, nil
		}
		cursor = "&cursor=" + url.QueryEscape(*page.Next)
	}
}

func (w *world) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.BaseURL+path, http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+w.APIKey)
	response, err := w.http.Do(request)
	if err != nil {
		return err
	}
	err = json.NewDecoder(response.Body).Decode(into)
	if response.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: status %d", path, response.StatusCode)
	}
	return errors.Join(err, response.Body.Close())
}

func (w *world) close() error {
	w.http.CloseIdleConnections()
	return w.Close()
}
