package simulator_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func TestOrderBounds(t *testing.T) {
	r := newRig(t)
	o := r.cheapest()[0]
	var noBids string
	for _, other := range list[offer](r, "/offers", 50) {
		if other.Price.Interruptible == nil {
			noBids = other.ID
		}
	}
	ids := func(n int) []string { return strings.Split(strings.TrimSuffix(strings.Repeat("ssh_x,", n), ","), ",") }
	for name, c := range map[string]struct {
		change m
		field  string
	}{
		"offer missing":          {m{"offer_id": nil}, "offer_id"},
		"disk low":               {m{"disk_gb": 9}, "disk_gb"},
		"disk high":              {m{"disk_gb": 2001}, "disk_gb"},
		"disk below template":    {m{"disk_gb": 19}, "disk_gb"},
		"disk above offer":       {m{"disk_gb": *o.Disk.MaxGB + 1}, "disk_gb"},
		"disk text":              {m{"disk_gb": "50"}, "disk_gb"},
		"name too long":          {m{"name": strings.Repeat("я", 61)}, "name"},
		"name null":              {m{"name": nil}, "name"},
		"unknown type":           {m{"type": "spot"}, "type"},
		"no interruptible price": {m{"type": "interruptible", "offer_id": noBids}, "type"},
		"eleven keys":            {m{"ssh_key_ids": ids(11)}, "ssh_key_ids"},
		"unknown key":            {m{"ssh_key_ids": ids(1)}, "ssh_key_ids"},
		"image of another":       {m{"image": "ubuntu:24.04"}, "image"},
		"image without tag":      {m{"template": "custom", "image": "ubuntu"}, "image"},
		"env":                    {m{"env": m{"A": "b"}}, "env"},
		"onstart":                {m{"onstart": "ls"}, "onstart"},
		"onstart empty":          {m{"onstart": ""}, "onstart"},
	} {
		t.Run(name, func(t *testing.T) {
			change := m{"offer_id": o.ID}
			for k, v := range c.change {
				change[k] = v
			}
			r.rent("k-"+name, change).invalid(c.field)
		})
	}
	r.do("POST", "/instances", m{"offer_id": o.ID, "template": "pytorch", "disk_gb": 50}).invalid("Idempotency-Key")
	r.rent(strings.Repeat("k", 65), nil).invalid("Idempotency-Key")
	r.rent("k", m{"offer_id": "off_no"}).refused(404, "not_found")
	r.rent("k", m{"template": "no"}).refused(404, "not_found")

	var custom instance
	r.rent(strings.Repeat("k", 64), m{"template": "custom", "image": "a/b:1", "name": strings.Repeat("я", 60), "env": m{}, "onstart": nil, "ssh_key_ids": []string{}}).
		want(201).into(&custom)
	if custom.Image != "a/b:1" {
		t.Errorf("image %q", custom.Image)
	}
	var plain instance
	r.rent("k", m{"template": "custom"}).want(201).into(&plain)
	if plain.Image == "" {
		t.Error("the custom template has no image of its own")
	}
}

func TestRentRefusals(t *testing.T) {
	r := newRig(t)
	set := func(p simulator.AccountPatch) {
		t.Helper()
		if err := r.SetAccount(p); err != nil {
			t.Fatal(err)
		}
	}
	o := r.cheapest()[0]
	set(simulator.AccountPatch{EmailVerified: new(false)})
	if got := r.rent("k", nil).refused(403, "forbidden").Error.Details.Reason; got != "email_not_verified" {
		t.Errorf("reason %q", got)
	}
	set(simulator.AccountPatch{EmailVerified: new(true), BalanceKop: new(int64(100))})
	extra := (o.Price.Storage*40 + 729) / 730
	if got, want := r.rent("k", nil).refused(402, "insufficient_funds").Error.Details.Short, 2*(o.Price.OnDemand+extra)-100; got != want {
		t.Errorf("short by %d, want %d", got, want)
	}
	set(simulator.AccountPatch{CreditLimitKop: new(int64(1_000_000)), MaxInstances: new(int64(1))})
	r.rent("k", m{"offer_id": o.ID}).want(201)
	r.rent("k2", nil).refused(409, "conflict")
	set(simulator.AccountPatch{MaxInstances: new(int64(5))})
	r.rent("k2", m{"offer_id": o.ID}).refused(409, "conflict")
	// What was refused is not remembered under its key.
	r.rent("k2", nil).want(201)
}

func TestIdempotency(t *testing.T) {
	r := newRig(t)
	o := r.cheapest()[0].ID
	const clients = 16
	ids, created := make([]string, clients), make([]bool, clients)
	var wg sync.WaitGroup
	for n := range clients {
		wg.Go(func() {
			a := r.rent("one", m{"offer_id": o})
			var i instance
			a.into(&i)
			ids[n], created[n] = i.ID, a.status == 201
			if replayed := a.header.Get("Idempotent-Replayed") == "true"; replayed == created[n] {
				t.Errorf("status %d, replayed %t", a.status, replayed)
			}
		})
	}
	wg.Wait()
	firsts := 0
	for n := range clients {
		if created[n] {
			firsts++
		}
		if ids[n] != ids[0] {
			t.Errorf("instance %s, want %s", ids[n], ids[0])
		}
	}
	if firsts != 1 {
		t.Errorf("%d requests created, want 1", firsts)
	}
	r.do("DELETE", "/instances/"+ids[0], nil).want(200)
	r.Advance(settled)
	var i instance
	r.rent("one", m{"offer_id": o}).want(200).into(&i)
	if i.ID != ids[0] || i.Status != "destroyed" {
		t.Errorf("replay of a destroyed rental: %+v", i)
	}
}
