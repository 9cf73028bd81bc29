package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const requestTimeout = 10 * time.Second

// service reads the account with plain HTTP, so that the checks do not depend on the provider's client.
type service struct {
	base, control, key string
	http               *http.Client
}

func newService(sim *simulator) *service {
	return &service{
		base: sim.BaseURL, control: sim.ControlURL, key: sim.APIKey, http: &http.Client{Timeout: requestTimeout},
	}
}

// account is the balance in kopecks. AvailableKop includes usage that is not posted yet.
type account struct {
	BalanceKop   int64 `json:"balance_kop"`
	AvailableKop int64 `json:"available_kop"`
}

func (s *service) account(ctx context.Context) (account, error) {
	var money account
	err := s.call(ctx, http.MethodGet, s.base+"/balance", nil, &money)
	return money, err
}

// ledger returns the number and the sum (kopecks) of all transactions.
func (s *service) ledger(ctx context.Context) (entries int, sum int64, err error) {
	type entry struct {
		AmountKop int64 `json:"amount_kop"`
	}
	all, err := list[entry](ctx, s, "/transactions")
	for _, entry := range all {
		sum += entry.AmountKop
	}
	return len(all), sum, err
}

// left lists everything in the account except the API key in use. It returns "" if there is none.
func (s *service) left(ctx context.Context) (string, error) {
	type object struct {
		ID     string `json:"id"`
		Slug   string `json:"slug"`   // templates have no id
		Owner  string `json:"owner"`  // of templates
		Prefix string `json:"prefix"` // of API keys
	}
	var found []string
	for kind, path := range map[string]string{
		"server": "/instances", "template": "/templates", "SSH key": "/ssh-keys", "API key": "/api-keys",
	} {
		objects, err := list[object](ctx, s, path)
		if err != nil {
			return "", err
		}
		for _, o := range objects {
			if o.Owner != "catalog" && !s.inUse(o.Prefix) {
				found = append(found, kind+" "+cmp.Or(o.ID, o.Slug))
			}
		}
	}
	slices.Sort(found)
	return strings.Join(found, ", "), nil
}

// inUse reports whether a prefix is that of the demo's API key. Other objects have no prefix.
func (s *service) inUse(prefix string) bool { return prefix != "" && strings.HasPrefix(s.key, prefix) }

// advance moves the simulator's clock forward.
func (s *service) advance(ctx context.Context, by time.Duration) error {
	body := map[string]int64{"advance_seconds": int64(by / time.Second)}
	return s.call(ctx, http.MethodPost, s.control+"/clock", body, nil)
}

// list reads all pages of a listing.
func list[T any](ctx context.Context, s *service, path string) ([]T, error) {
	var all []T
	query := url.Values{"limit": {"200"}}
	for {
		var page struct {
			Data       []T     `json:"data"`
			NextCursor *string `json:"next_cursor"`
		}
		if err := s.call(ctx, http.MethodGet, s.base+path+"?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Data...)
		if page.NextCursor == nil {
			return all, nil
		}
		query.Set("cursor", *page.NextCursor)
	}
}

// call sends a request and decodes the response into result, if that is not nil.
func (s *service) call(ctx context.Context, method, address string, body, result any) (err error) {
	sent, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(sent))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	response, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s: %s", method, address, resp.Status, response)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(response, result)
}
