package conformance

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The details of POST /instances, in the order of the document.

// createAndDestroy creates an instance with a new Idempotency-Key and destroys it.
func (s *service) createAndDestroy(body object) response {
	s.t.Helper()
	a := s.create(uniqueName("trial"), body)
	if a.status == 201 {
		s.delete("/instances/" + text(a.object(), "id")).ok()
		s.advance(120)
	}
	return a
}

func TestRentIdempotencyKeyBounds(t *testing.T) {
	s := start(t)
	body := s.rentBody()
	s.post("/instances", body).invalid("Idempotency-Key")
	blank := s.with("Idempotency-Key", "x")
	blank.header["Idempotency-Key"] = []string{""}
	blank.post("/instances", body).invalid("Idempotency-Key")
	s.create(strings.Repeat("k", 65), body).invalid("Idempotency-Key")
	s.create(strings.Repeat("k", 1000), body).invalid("Idempotency-Key")
	equal(t, "instances", len(s.list("/instances?status=all")), 0)
	s.create(strings.Repeat("k", 64), body).created()
	s.create("k", s.rentBody()).created()
	s.create("a b/c?d=e:f", s.rentBody()).created()
}

func TestRentBounds(t *testing.T) {
	s := start(t)
	var keys []any
	for n := range 11 {
		keys = append(keys, s.post("/ssh-keys", object{"public_key": publicKey(byte(n))}).created()["id"])
	}
	body := s.rentBodyWithDisk(2000)
	checkBounds("InstanceCreate", body, s.createAndDestroy)
	checkField(body, "ssh_key_ids", []any{keys[:10]}, []any{keys}, s.createAndDestroy)
	checkField(body, "offer_id", nil, []any{""}, s.createAndDestroy)
	checkField(body, "template", nil, []any{""}, s.createAndDestroy)
	checkField(body, "image", nil, []any{"alpine:3"}, s.createAndDestroy) // only the custom template accepts an image
	equal(t, "instances left", len(s.list("/instances")), 0)
}

// The disk must be at least the template's minimum and at most the disk of the server.
func TestRentDiskOfTemplateAndServer(t *testing.T) {
	s := start(t)
	body := s.rentBody()
	for _, template := range s.as("").list("/templates") {
		least := integer(template, "min_disk_gb")
		if least <= 10 || text(template, "slug") == "custom" {
			continue
		}
		body["template"] = template["slug"]
		checkField(body, "disk_gb", []any{least}, []any{least - 1}, s.createAndDestroy)
	}
	small := 0
	for _, o := range s.list("/offers") {
		most := integer(o, "disk.max_gb")
		if most == 0 || most >= 2000 || small == 5 {
			continue
		}
		small++
		body = object{"offer_id": o["id"], "template": s.plainTemplate()}
		checkField(body, "disk_gb", []any{most}, []any{most + 1}, s.createAndDestroy)
	}
	equal(t, "servers tried", small, 5)
}

func TestRentCustomImage(t *testing.T) {
	s := start(t)
	custom := s.as("").list("/templates")
	n := slices.IndexFunc(custom, func(o object) bool { return text(o, "slug") == "custom" })
	if n < 0 {
		t.Fatal("the catalogue has no custom template")
	}
	body := s.rentBody()
	body["template"], body["disk_gb"] = "custom", max(integer(custom[n], "min_disk_gb"), 10)
	checkField(body, "image", []any{"ghcr.io/team/app:1"}, []any{"", "no tag"}, s.createAndDestroy)
	body["image"] = "ghcr.io/team/app:1"
	o := s.create(uniqueName("custom"), body).created()
	equal(t, "image", text(o, "image"), "ghcr.io/team/app:1")
	own := text(s.post("/templates", plainTemplateBody()).created(), "slug")
	body = s.rentBody()
	body["template"], body["image"] = own, "alpine:3"
	s.create(uniqueName("own"), body).invalid("image")
}

func TestRentErrors(t *testing.T) {
	s := start(t)
	with := func(field string, value any) object { body := s.rentBody(); body[field] = value; return body }
	s.create(uniqueName("k"), with("offer_id", "none")).failsWith("not_found")
	s.create(uniqueName("k"), with("template", "none")).failsWith("not_found")

	s.setAccount(object{"email_verified": false})
	details := s.create(uniqueName("k"), s.rentBody()).failsWith("forbidden")
	equal(t, "details.reason", text(details, "reason"), "email_not_verified")
	s.setAccount(object{"email_verified": true})

	taken := s.rentBody()
	s.create(uniqueName("k"), taken).created()
	s.create(uniqueName("k"), taken).failsWith("conflict")
	off := s.rentBody()
	s.setOffer(text(off, "offer_id"), object{"available": false})
	s.create(uniqueName("k"), off).failsWith("conflict")

	s.setAccount(object{"max_instances": 2})
	second := s.create(uniqueName("k"), s.rentBody()).created()
	s.create(uniqueName("k"), s.rentBody()).failsWith("conflict")
	s.delete("/instances/" + text(second, "id")).ok()
	s.waitForStatus(text(second, "id"), "destroyed")
	s.create(uniqueName("k"), s.rentBody()).created()

	for _, o := range s.list("/offers") {
		if at(o, "price.interruptible_kop_h") == nil {
			s.setAccount(object{"max_instances": 1000})
			a := s.create(uniqueName("k"), object{"offer_id": o["id"], "template": s.plainTemplate(), "disk_gb": 10,
				"type": "interruptible"})
			check(t, a.status/100 == 4, "an interruptible rental of a server without such a price: %d", a.status)
		}
	}
}

// A create locks the current price of the offer.
func TestRentPrice(t *testing.T) {
	s := start(t)
	for kind, price := range map[string]string{"on_demand": "price.on_demand_kop_h",
		"interruptible": "price.interruptible_kop_h"} {
		body := s.rentBody()
		body["type"] = kind
		offer := s.get("/offers/" + text(body, "offer_id")).ok()
		o := s.create(uniqueName("k"), body).created()
		equal(t, kind+": type", text(o, "type"), kind)
		equal(t, kind+": running_kop_h", integer(o, "price.running_kop_h"), integer(offer, price))
		check(t, integer(o, "price.stopped_kop_h") <= integer(o, "price.running_kop_h"),
			"%s: the stopped price is above the running price", kind)
	}
}

// Of concurrent creates with one key, one creates an instance; the others return it.
func TestRentRace(t *testing.T) {
	s := start(t)
	offers := s.list("/offers")
	const clients = 24
	responses := make([]response, clients)
	var wg sync.WaitGroup
	for n := range clients {
		wg.Go(func() {
			body := object{"offer_id": offers[n%2]["id"], "template": "ubuntu", "disk_gb": 10}
			responses[n] = s.create("one key", body)
		})
	}
	wg.Wait()
	created := 0
	for _, a := range responses {
		if a.status == 201 {
			created++
		} else {
			equal(t, "status of a replay", a.status, 200)
			equal(t, "Idempotent-Replayed", a.header.Get("Idempotent-Replayed"), "true")
		}
		equal(t, "id", text(a.object(), "id"), text(responses[0].object(), "id"))
	}
	equal(t, "responses 201", created, 1)
	equal(t, "instances", len(s.list("/instances?status=all")), 1)

	// Of concurrent creates for one offer, one succeeds; the others fail with a conflict.
	body := s.rentBody()
	for n := range clients {
		wg.Go(func() { responses[n] = s.create(fmt.Sprintf("key %d", n), body) })
	}
	wg.Wait()
	created = 0
	for _, a := range responses {
		if a.status == 201 {
			created++
			continue
		}
		a.failsWith("conflict")
	}
	equal(t, "responses 201 for one server", created, 1)
}

// "409 when the price changed": the price of the rental type differs from the price that the caller was shown last, in
// a list, by GET /offers/{id} or in the details of an earlier 409. Offers are public, so requests without a key count
// as well.
func TestRentPriceChanged(t *testing.T) {
	s := start(t)
	for where, look := range map[string]func(offer string){
		"in a list":                func(string) { s.list("/offers") },
		"alone":                    func(offer string) { s.get("/offers/" + offer).ok() },
		"alone, without a key":     func(offer string) { s.as("").get("/offers/" + offer).ok() },
		"in a list of other types": func(string) { s.as("").list("/offers?type=interruptible") },
	} {
		for kind, field := range map[string]string{"on_demand": "on_demand_kop_h",
			"interruptible": "interruptible_kop_h"} {
			for _, change := range []int64{1, -1} {
				what := fmt.Sprintf("%s price shown %s, changed by %d", kind, where, change)
				body := s.rentBody()
				body["type"] = kind
				offer := text(body, "offer_id")
				price := integer(s.get("/offers/"+offer).ok(), "price."+field) + change
				s.reset()
				look(offer)
				s.setOffer(offer, object{field: price})
				key := uniqueName("k")
				details := s.create(key, body).failsWith("conflict")
				equal(t, what+": details.price_kop_h", integer(details, "price_kop_h"), price)
				equal(t, what+": instances", len(s.list("/instances")), 0)
				// The error shows the new price and does not use up the key.
				o := s.create(key, body).created()
				equal(t, what+": running_kop_h", integer(o, "price.running_kop_h"), price)
				s.reset()
			}
		}
	}
}

// Price changes that do not affect the shown price cause no conflict.
func TestRentPriceNotChanged(t *testing.T) {
	s := start(t)
	body := s.rentBody()
	offer := text(body, "offer_id")
	price := integer(s.get("/offers/"+offer).ok(), "price.on_demand_kop_h")
	s.setOffer(offer, object{"interruptible_kop_h": 1})
	s.setOffer(offer, object{"on_demand_kop_h": price + 5})
	s.setOffer(offer, object{"on_demand_kop_h": price})
	first := s.create(uniqueName("k"), body).created()
	equal(t, "restored price: running_kop_h", integer(first, "price.running_kop_h"), price)

	// A repeated create returns its instance whatever the price is.
	body = s.rentBody()
	s.create("again", body).created()
	s.setOffer(text(body, "offer_id"), object{"on_demand_kop_h": price + 7})
	s.create("again", body).want(200)

	// A price that was never shown.
	body = s.rentBody()
	s.reset()
	s.setOffer(text(body, "offer_id"), object{"on_demand_kop_h": price + 9})
	o := s.create(uniqueName("k"), body).created()
	equal(t, "price that was not shown: running_kop_h", integer(o, "price.running_kop_h"), price+9)
}
