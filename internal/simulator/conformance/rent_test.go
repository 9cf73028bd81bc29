package conformance

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The document's details of POST /instances, in their order.

// trial sends a body under a fresh Idempotency-Key, and destroys what it made.
func (s *service) trial(body object) answer {
	s.t.Helper()
	a := s.order(fresh("trial"), body)
	if a.status == 201 {
		s.delete("/instances/" + text(a.object(), "id")).ok()
		s.advance(120)
	}
	return a
}

func TestRentIdempotencyKeyBounds(t *testing.T) {
	s := start(t)
	body := s.ready()
	s.post("/instances", body).invalid("Idempotency-Key")
	blank := s.with("Idempotency-Key", "x")
	blank.header["Idempotency-Key"] = []string{""}
	blank.post("/instances", body).invalid("Idempotency-Key")
	s.order(strings.Repeat("k", 65), body).invalid("Idempotency-Key")
	s.order(strings.Repeat("k", 1000), body).invalid("Idempotency-Key")
	equal(t, "instances", len(s.list("/instances?status=all")), 0)
	s.order(strings.Repeat("k", 64), body).created()
	s.order("k", s.ready()).created()
	s.order("a b/c?d=e:f", s.ready()).created()
}

func TestRentBounds(t *testing.T) {
	s := start(t)
	var keys []any
	for n := range 11 {
		keys = append(keys, s.post("/ssh-keys", object{"public_key": publicKey(byte(n))}).created()["id"])
	}
	body := s.roomy(2000)
	checkBounds("InstanceCreate", body, s.trial)
	checkField(body, "ssh_key_ids", []any{keys[:10]}, []any{keys}, s.trial)
	checkField(body, "offer_id", nil, []any{""}, s.trial)
	checkField(body, "template", nil, []any{""}, s.trial)
	checkField(body, "image", nil, []any{"alpine:3"}, s.trial) // only the custom template has a choice of image
	equal(t, "instances that were left", len(s.list("/instances")), 0)
}

// The disk is no smaller than the template's minimum, and no larger than the server's.
func TestRentDiskOfTemplateAndServer(t *testing.T) {
	s := start(t)
	body := s.ready()
	for _, template := range s.as("").list("/templates") {
		least := whole(template, "min_disk_gb")
		if least <= 10 || text(template, "slug") == "custom" {
			continue
		}
		body["template"] = template["slug"]
		checkField(body, "disk_gb", []any{least}, []any{least - 1}, s.trial)
	}
	small := 0
	for _, o := range s.list("/offers") {
		most := whole(o, "disk.max_gb")
		if most == 0 || most >= 2000 || small == 5 {
			continue
		}
		small++
		body = object{"offer_id": o["id"], "template": s.plainTemplate()}
		checkField(body, "disk_gb", []any{most}, []any{most + 1}, s.trial)
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
	body := s.ready()
	body["template"], body["disk_gb"] = "custom", max(whole(custom[n], "min_disk_gb"), 10)
	checkField(body, "image", []any{"ghcr.io/team/app:1"}, []any{"", "no tag"}, s.trial)
	body["image"] = "ghcr.io/team/app:1"
	o := s.order(fresh("custom"), body).created()
	equal(t, "image", text(o, "image"), "ghcr.io/team/app:1")
	own := text(s.post("/templates", plainTemplateBody()).created(), "slug")
	body = s.ready()
	body["template"], body["image"] = own, "alpine:3"
	s.order(fresh("own"), body).invalid("image")
}

func TestRentRefusals(t *testing.T) {
	s := start(t)
	with := func(field string, value any) object { body := s.ready(); body[field] = value; return body }
	s.order(fresh("k"), with("offer_id", "none")).fails("not_found")
	s.order(fresh("k"), with("template", "none")).fails("not_found")

	s.account(object{"email_verified": false})
	details := s.order(fresh("k"), s.ready()).fails("forbidden")
	equal(t, "details.reason", text(details, "reason"), "email_not_verified")
	s.account(object{"email_verified": true})

	taken := s.ready()
	s.order(fresh("k"), taken).created()
	s.order(fresh("k"), taken).fails("conflict")
	off := s.ready()
	s.offer(text(off, "offer_id"), object{"available": false})
	s.order(fresh("k"), off).fails("conflict")

	s.account(object{"max_instances": 2})
	second := s.order(fresh("k"), s.ready()).created()
	s.order(fresh("k"), s.ready()).fails("conflict")
	s.delete("/instances/" + text(second, "id")).ok()
	s.settle(text(second, "id"), "destroyed")
	s.order(fresh("k"), s.ready()).created()

	for _, o := range s.list("/offers") {
		if at(o, "price.interruptible_kop_h") == nil {
			s.account(object{"max_instances": 1000})
			a := s.order(fresh("k"), object{"offer_id": o["id"], "template": s.plainTemplate(), "disk_gb": 10,
				"type": "interruptible"})
			check(t, a.status/100 == 4, "an interruptible rental of a server without such a price: %d", a.status)
		}
	}
}

// The first rental locks its price: what the offer says at that moment.
func TestRentPrice(t *testing.T) {
	s := start(t)
	for kind, price := range map[string]string{"on_demand": "price.on_demand_kop_h",
		"interruptible": "price.interruptible_kop_h"} {
		body := s.ready()
		body["type"] = kind
		offer := s.get("/offers/" + text(body, "offer_id")).ok()
		o := s.order(fresh("k"), body).created()
		equal(t, kind+": type", text(o, "type"), kind)
		equal(t, kind+": running_kop_h", whole(o, "price.running_kop_h"), whole(offer, price))
		check(t, whole(o, "price.stopped_kop_h") <= whole(o, "price.running_kop_h"),
			"%s: stopped is dearer than running", kind)
	}
}

// Of many POSTs at once with one key one makes an instance; the others replay it.
func TestRentRace(t *testing.T) {
	s := start(t)
	offers := s.list("/offers")
	const clients = 24
	answers := make([]answer, clients)
	var wg sync.WaitGroup
	for n := range clients {
		wg.Go(func() {
			body := object{"offer_id": offers[n%2]["id"], "template": "ubuntu", "disk_gb": 10}
			answers[n] = s.order("one key", body)
		})
	}
	wg.Wait()
	created := 0
	for _, a := range answers {
		if a.status == 201 {
			created++
		} else {
			equal(t, "status of a replay", a.status, 200)
			equal(t, "Idempotent-Replayed", a.header.Get("Idempotent-Replayed"), "true")
		}
		equal(t, "id", text(a.object(), "id"), text(answers[0].object(), "id"))
	}
	equal(t, "answers 201", created, 1)
	equal(t, "instances", len(s.list("/instances?status=all")), 1)

	// Of many POSTs at once for one server one gets it; the others are told so.
	body := s.ready()
	for n := range clients {
		wg.Go(func() { answers[n] = s.order(fmt.Sprintf("key %d", n), body) })
	}
	wg.Wait()
	created = 0
	for _, a := range answers {
		if a.status == 201 {
			created++
			continue
		}
		a.fails("conflict")
	}
	equal(t, "answers 201 for one server", created, 1)
}

// "409 when the price changed": the price for the type of the rental is not the one that the caller was last shown, in a
// list, by GET /offers/{id} or in the details of an earlier 409. Offers are public, so a look without a key counts as well.
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
				body := s.ready()
				body["type"] = kind
				offer := text(body, "offer_id")
				price := whole(s.get("/offers/"+offer).ok(), "price."+field) + change
				s.reset()
				look(offer)
				s.offer(offer, object{field: price})
				key := fresh("k")
				details := s.order(key, body).fails("conflict")
				equal(t, what+": details.price_kop_h", whole(details, "price_kop_h"), price)
				equal(t, what+": instances", len(s.list("/instances")), 0)
				// The refusal has shown the new price, and has not used the key.
				o := s.order(key, body).created()
				equal(t, what+": running_kop_h", whole(o, "price.running_kop_h"), price)
				s.reset()
			}
		}
	}
}

// What does not concern the price that was shown is no conflict.
func TestRentPriceNotChanged(t *testing.T) {
	s := start(t)
	body := s.ready()
	offer := text(body, "offer_id")
	price := whole(s.get("/offers/"+offer).ok(), "price.on_demand_kop_h")
	s.offer(offer, object{"interruptible_kop_h": 1})
	s.offer(offer, object{"on_demand_kop_h": price + 5})
	s.offer(offer, object{"on_demand_kop_h": price})
	first := s.order(fresh("k"), body).created()
	equal(t, "price that came back: running_kop_h", whole(first, "price.running_kop_h"), price)

	// A repeat receives its instance, whatever the price is now.
	body = s.ready()
	s.order("again", body).created()
	s.offer(text(body, "offer_id"), object{"on_demand_kop_h": price + 7})
	s.order("again", body).want(200)

	// A price that nobody was shown.
	body = s.ready()
	s.reset()
	s.offer(text(body, "offer_id"), object{"on_demand_kop_h": price + 9})
	o := s.order(fresh("k"), body).created()
	equal(t, "price that was not shown: running_kop_h", whole(o, "price.running_kop_h"), price+9)
}
