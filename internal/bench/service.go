package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const (
	// boot is short: the boot of a server does not depend on the provider.
	boot = 10 * time.Millisecond
	// pollInterval is an argument of the provider block. The default would be the largest part of a creation.
	pollInterval = `poll_interval = "100ms"`
	// offersPerScale is the least number of offers that a market of scale 1 has.
	offersPerScale = 60
	// balanceKop pays for all servers.
	balanceKop = 900_000_000_000

	requestTimeout = 30 * time.Second
)

// startService starts a simulator that has an offer for each server. Only a limited scenario has a rate limit.
func startService(ctx context.Context, s scenario) (*simulator.Server, error) {
	config := simulator.Config{Boot: boot, Market: simulator.MarketStill, MarketScale: 1 + s.servers/offersPerScale}
	perMinute := 0
	if s.limited {
		config.Boot, config.TimeScale, perMinute = limitedBoot, limitedTimeScale, requestsPerMinute
	}
	service, err := simulator.Start(ctx, config)
	if err != nil {
		return nil, err
	}
	service.SetRateLimit(perMinute, 0)
	account := simulator.AccountPatch{BalanceKop: new(int64(balanceKop)), MaxInstances: new(int64(s.servers))}
	if err := service.SetAccount(account); err != nil {
		return nil, errors.Join(err, service.Close())
	}
	return service, nil
}

// offers returns the ids of n offers.
func offers(ctx context.Context, service *simulator.Server, n int) ([]string, error) {
	var ids []string
	for cursor := ""; len(ids) < n; {
		var page struct {
			Data []struct{ ID string }
			Next *string `json:"next_cursor"`
		}
		if err := call(ctx, service, http.MethodGet, "/offers?limit=200"+cursor, "", &page); err != nil {
			return nil, err
		}
		for _, offer := range page.Data {
			ids = append(ids, offer.ID)
		}
		if page.Next == nil {
			break
		}
		cursor = "&cursor=" + url.QueryEscape(*page.Next)
	}
	if len(ids) < n {
		return nil, fmt.Errorf("the simulator has %d offers, and the scenario needs %d", len(ids), n)
	}
	return ids[:n], nil
}

// call sends a request and decodes the response. Only the creation of a server uses the idempotency key.
func call(ctx context.Context, service *simulator.Server, method, path, body string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, service.BaseURL+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+service.APIKey)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", rand.Text())
	resp, err := (&http.Client{}).Do(req)
	if err != nil {
		return err
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s %s: HTTP %d", method, path, resp.StatusCode)
	}
	return errors.Join(err, json.NewDecoder(resp.Body).Decode(into), resp.Body.Close())
}
