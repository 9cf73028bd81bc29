package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The details of POST /instances, in the order of the document. The random histories test prices and funds.

// rentOnce creates an instance with a new Idempotency-Key and destroys it.
func (s *service) rentOnce(body object) response {
	s.t.Helper()
	return s.removing("/instances", "id", func(body object) response { return s.create(unique("k"), body) })(body)
}

func TestRent_IdempotencyKeyBounds(t *testing.T) {
	s := start(t)
	body := s.rentBody()
	s.post("/instances", body).invalid("Idempotency-Key")
	for _, key := range []string{"", strings.Repeat("k", 65), strings.Repeat("k", 1000)} {
		s.create(key, body).invalid("Idempotency-Key")
	}
	equal(t, "instances", len(s.list("/instances?status=all")), 0)
	for _, key := range []string{"k", strings.Repeat("k", 64), "a b/c?d=e:f"} {
		s.create(key, s.rentBody()).created()
	}
}

func TestRent_Bounds(t *testing.T) {
	s := start(t)
	var keys []any
	for n := range 11 {
		keys = append(keys, s.newSSHKey(byte(n))["id"])
	}
	body := s.rentBodyWithDisk(2000)
	checkBounds("InstanceCreate", body, s.rentOnce)
	checkField(body, "ssh_key_ids", []any{keys[:10]}, []any{keys}, s.rentOnce)
	checkField(body, "offer_id", nil, []any{""}, s.rentOnce)
	checkField(body, "template", nil, []any{""}, s.rentOnce)
	equal(t, "instances left", len(s.list("/instances")), 0)
}

// The disk must be at least the template's minimum and at most the disk of the server.
func TestRent_DiskOfTemplateAndServer(t *testing.T) {
	s := start(t)
	for _, template := range s.as("").list("/templates") {
		if least := integer(template, "min_disk_gb"); least > 10 && text(template, "slug") != "custom" {
			body := s.rentBody()
			body["template"] = template["slug"]
			checkField(body, "disk_gb", []any{least}, []any{least - 1}, s.rentOnce)
		}
	}
	small := s.list("/offers")
	small = slices.DeleteFunc(small, func(o object) bool {
		most := integer(o, "disk.max_gb")
		return most == 0 || most >= 2000
	})
	for _, o := range small[:5] {
		most := integer(o, "disk.max_gb")
		checkField(object{"offer_id": o["id"], "template": "ubuntu"}, "disk_gb", []any{most}, []any{most + 1}, s.rentOnce)
	}
}

// Only the custom template accepts an image.
func TestRent_CustomImage(t *testing.T) {
	s := start(t)
	body := s.rentBody()
	for _, template := range []string{"ubuntu", s.newTemplate()} {
		body["template"] = template
		checkField(body, "image", nil, []any{"alpine:3"}, s.rentOnce)
	}
	body["template"] = "custom"
	checkField(body, "image", []any{"ghcr.io/team/app:1"}, []any{"", "no tag"}, s.rentOnce)
	body["image"] = "ghcr.io/team/app:1"
	equal(t, "image", text(s.create(unique("custom"), body).created(), "image"), "ghcr.io/team/app:1")
}

// An error creates nothing and does not use up the key.
func TestRent_Errors(t *testing.T) {
	s := start(t)
	body := s.rentBody()
	offer := text(body, "offer_id")
	with := func(field string, value any) object {
		other := s.rentBody()
		other[field] = value
		return other
	}
	withoutBid := s.list("/offers")
	withoutBid = slices.DeleteFunc(withoutBid, func(o object) bool { return at(o, "price.interruptible_kop_h") != nil })
	account := func(set object) func() { return func() { s.setAccount(set) } }
	market := func(set object) func() { return func() { s.setOffer(offer, set) } }
	s.setAccount(object{"balance_kop": 10_000_000})
	for _, c := range []struct {
		code, reason string
		body         object
		set, restore func()
	}{
		{"not_found", "", with("offer_id", "none"), nil, nil},
		{"not_found", "", with("template", "none"), nil, nil},
		{"validation_error", "", with("disk_gb", 1), nil, nil},
		{"validation_error", "", object{"offer_id": withoutBid[0]["id"], "template": "ubuntu", "disk_gb": 10,
			"type": "interruptible"}, nil, nil},
		{"insufficient_funds", "", body, account(object{"balance_kop": 0}), account(object{"balance_kop": 10_000_000})},
		{"forbidden", "email_not_verified", body, account(object{"email_verified": false}),
			account(object{"email_verified": true})},
		{"conflict", "", body, account(object{"max_instances": 0}), account(object{"max_instances": 2})},
		{"conflict", "", body, market(object{"available": false}), market(object{"available": true})},
		{"provider_unavailable", "", body, market(object{"online": false}), market(object{"online": true})},
	} {
		if c.set != nil {
			c.set()
		}
		equal(t, "details.reason", text(s.create("the key", c.body).failsWith(c.code), "reason"), c.reason)
		if c.restore != nil {
			c.restore()
		}
	}
	equal(t, "instances", len(s.list("/instances?status=all")), 0)
	s.create("the key", body).created()

	s.create(unique("k"), body).failsWith("conflict") // the offer is taken
	second := s.create(unique("k"), s.rentBody()).created()
	s.create(unique("k"), s.rentBody()).failsWith("conflict") // the limit of instances
	s.destroy(text(second, "id"))
	s.create(unique("k"), s.rentBody()).created()
}

// A create locks the current price of the offer, and the price does not change with the market.
func TestRent_Price(t *testing.T) {
	s := start(t)
	for _, kind := range []string{"on_demand", "interruptible"} {
		i := s.rent(object{"type": kind})
		id, offer := text(i, "id"), s.offers[text(i, "id")]
		price := integer(i, "price.running_kop_h")
		equal(t, "type", text(i, "type"), kind)
		equal(t, kind+": running_kop_h", price, integer(s.get("/offers/"+offer).ok(), "price."+kind+"_kop_h"))
		s.setOffer(offer, object{"on_demand_kop_h": price * 10, "interruptible_kop_h": price})
		s.waitFor(id, "running")
		before := integer(s.instance(id), "cost_so_far_kop")
		s.advance(36_000)
		now := s.instance(id)
		equal(t, kind+": status of a rental whose market rose", text(now, "status"), "running")
		equal(t, kind+": price of a rental whose market rose", short(now["price"]), short(i["price"]))
		cost := integer(now, "cost_so_far_kop") - before
		check(t, withinOne(cost, price*10), "%s: ten hours cost %d, want %d", kind, cost, price*10)
	}
}

// "409 when the price changed": the price of the rental type differs from the price that the caller was shown last, in
// a list, by GET /offers/{id} or in the details of an earlier 409. Offers are public, so requests without a key count
// as well.
func TestRent_PriceChanged(t *testing.T) {
	s := start(t)
	for where, look := range map[string]func(offer string){
		"in a list":                func(string) { s.list("/offers") },
		"alone":                    func(offer string) { s.get("/offers/" + offer).ok() },
		"alone, without a key":     func(offer string) { s.as("").get("/offers/" + offer).ok() },
		"in a list of other types": func(string) { s.as("").list("/offers?type=interruptible") },
	} {
		for _, kind := range []string{"on_demand", "interruptible"} {
			for _, change := range []int64{1, -1} {
				what := fmt.Sprintf("%s price shown %s, changed by %d", kind, where, change)
				body := s.rentBody()
				body["type"] = kind
				offer := text(body, "offer_id")
				price := integer(s.get("/offers/"+offer).ok(), "price."+kind+"_kop_h") + change
				s.reset()
				look(offer)
				s.setOffer(offer, object{kind + "_kop_h": price})
				key := unique("k")
				details := s.create(key, body).failsWith("conflict")
				equal(t, what+": details.price_kop_h", integer(details, "price_kop_h"), price)
				// The error shows the new price and does not use up the key.
				o := s.create(key, body).created()
				equal(t, what+": running_kop_h", integer(o, "price.running_kop_h"), price)
				s.reset()
			}
		}
	}
}

// reset resets the service, including shown prices, and lifts the rate limits.
func (s *service) reset() {
	s.t.Helper()
	s.control(http.MethodPost, "/reset", nil)
	s.setRateLimit(0)
}

// Price changes that do not affect the shown price cause no conflict.
func TestRent_PriceNotChanged(t *testing.T) {
	s := start(t)
	body := s.rentBody()
	offer := text(body, "offer_id")
	price := integer(s.get("/offers/"+offer).ok(), "price.on_demand_kop_h")
	s.setOffer(offer, object{"interruptible_kop_h": 1})
	s.setOffer(offer, object{"on_demand_kop_h": price + 5})
	s.setOffer(offer, object{"on_demand_kop_h": price})
	equal(t, "restored price", integer(s.create(unique("k"), body).created(), "price.running_kop_h"), price)

	body = s.rentBody()
	s.reset()
	s.setOffer(text(body, "offer_id"), object{"on_demand_kop_h": price + 9})
	o := s.create(unique("k"), body).created()
	equal(t, "price that was not shown", integer(o, "price.running_kop_h"), price+9)
}

// A repeated create returns the instance, whatever the state of the instance, the market and the account is.
func TestRent_Replay(t *testing.T) {
	s := start(t)
	body, other := s.rentBody(), s.rentBody()
	body["template"] = s.newTemplate()
	other["offer_id"], other["disk_gb"] = s.list("/offers?order=-price")[0]["id"], 50
	first := s.create("the key", body).want(http.StatusCreated)
	equal(t, "Idempotent-Replayed of a creation", first.header.Get("Idempotent-Replayed"), "")
	id := text(first.object(), "id")
	replay := func(when string) {
		t.Helper()
		for _, body := range []object{body, other} {
			a := s.create("the key", body).want(http.StatusOK)
			equal(t, when+": Idempotent-Replayed", a.header.Get("Idempotent-Replayed"), "true")
			equal(t, when+": the instance", short(a.object()), short(s.instance(id)))
		}
	}
	replay("at once")
	s.waitFor(id, "running")
	s.delete("/templates/" + text(body, "template")).want(http.StatusNoContent)
	replay("template deleted")
	s.setAccount(object{"max_instances": 1, "email_verified": false})
	replay("limit of instances reached")
	s.setOffer(text(body, "offer_id"), object{"available": false, "on_demand_kop_h": 99})
	replay("offer not available")
	for _, status := range statuses {
		s.setInstance(id, object{"status": status})
		replay("status " + status)
	}
	s.advance(30 * 86400)
	s.setAccount(object{"balance_kop": 0})
	replay("a month later, without money")
	equal(t, "instances", len(s.list("/instances?status=all")), 1)
	s.setAccount(object{"balance_kop": 10_000_000, "email_verified": true})
	s.create("another key", other).created()
}

// Of concurrent creates with one key, one creates an instance and the others return it. Of concurrent creates for one
// offer, one succeeds and the others fail with a conflict.
func TestRent_Race(t *testing.T) {
	s := start(t)
	offers := s.list("/offers")
	concurrently := func(create func(n int) response) (created int, others []response) {
		responses := make([]response, 24)
		var wg sync.WaitGroup
		for n := range responses {
			wg.Go(func() { responses[n] = create(n) })
		}
		wg.Wait()
		others = slices.DeleteFunc(responses, func(a response) bool { return a.status == http.StatusCreated })
		return 24 - len(others), others
	}
	created, replays := concurrently(func(n int) response {
		return s.create("one key", object{"offer_id": offers[n%2]["id"], "template": "ubuntu", "disk_gb": 10})
	})
	all := s.list("/instances?status=all")
	check(t, created == 1 && len(all) == 1, "%d responses 201, %d instances", created, len(all))
	for _, a := range replays {
		equal(t, "id of a replay", text(a.want(http.StatusOK).object(), "id"), text(all[0], "id"))
	}
	body := s.rentBody()
	created, conflicts := concurrently(func(n int) response { return s.create(fmt.Sprint(n), body) })
	equal(t, "responses 201 for one server", created, 1)
	for _, a := range conflicts {
		a.failsWith("conflict")
	}
}
