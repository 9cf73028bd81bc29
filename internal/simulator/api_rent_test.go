package simulator_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// The details of POST /instances, in the order of the document. The random histories test prices and funds.

// rentOnce creates an instance with a new Idempotency-Key and destroys it.
func (r *client) rentOnce(body object) response {
	r.t.Helper()
	return r.createAndDelete("/instances", "id", func(body object) response { return r.create(unique("k"), body) })(body)
}

func TestRent_IdempotencyKeyBounds(t *testing.T) {
	r := newFundedClient(t)
	body := r.instanceBody(nil)
	r.post("/instances", body).invalid("Idempotency-Key")
	for _, key := range []string{"", strings.Repeat("k", 65), strings.Repeat("k", 1000)} {
		r.create(key, body).invalid("Idempotency-Key")
	}
	equal(t, "instances", len(r.list("/instances?status=all")), 0)
	for _, key := range []string{"k", strings.Repeat("k", 64), "a b/c?d=e:f"} {
		r.create(key, r.instanceBody(nil)).created()
	}
}

func TestRent_Bounds(t *testing.T) {
	r := newFundedClient(t)
	var keys []any
	for n := range 11 {
		keys = append(keys, r.newSSHKey(byte(n))["id"])
	}
	body := r.instanceBody(object{"offer_id": r.list("/offers?type=interruptible&min_disk_gb=2000")[0]["id"]})
	checkBounds("InstanceCreate", body, r.rentOnce)
	checkField(body, "ssh_key_ids", []any{keys[:10]}, []any{keys}, r.rentOnce)
	checkField(body, "offer_id", nil, []any{""}, r.rentOnce)
	checkField(body, "template", nil, []any{""}, r.rentOnce)
	equal(t, "instances left", len(r.list("/instances")), 0)
}

// The disk must be at least the template's minimum and at most the disk of the server.
func TestRent_DiskOfTemplateAndServer(t *testing.T) {
	r := newFundedClient(t)
	for _, template := range r.withKey("").list("/templates") {
		if least := template.integer("min_disk_gb"); least > 10 && template.text("slug") != "custom" {
			body := r.instanceBody(object{"template": template["slug"]})
			checkField(body, "disk_gb", []any{least}, []any{least - 1}, r.rentOnce)
		}
	}
	small := r.list("/offers")
	small = slices.DeleteFunc(small, func(o object) bool {
		most := o.integer("disk.max_gb")
		return most == 0 || most >= 2000
	})
	for _, o := range small[:5] {
		most := o.integer("disk.max_gb")
		checkField(object{"offer_id": o["id"], "template": "ubuntu"}, "disk_gb", []any{most}, []any{most + 1}, r.rentOnce)
	}
}

// Only the custom template accepts an image.
func TestRent_CustomImage(t *testing.T) {
	r := newFundedClient(t)
	body := r.instanceBody(nil)
	for _, template := range []string{"ubuntu", r.newTemplate()} {
		body["template"] = template
		checkField(body, "image", nil, []any{"alpine:3"}, r.rentOnce)
	}
	body["template"] = "custom"
	checkField(body, "image", []any{"ghcr.io/team/app:1"}, []any{"", "no tag"}, r.rentOnce)
	body["image"] = "ghcr.io/team/app:1"
	equal(t, "image", r.create(unique("custom"), body).created().text("image"), "ghcr.io/team/app:1")
}

// An error creates nothing and does not use up the key.
func TestRent_Errors(t *testing.T) {
	r := newFundedClient(t)
	body := r.instanceBody(nil)
	offer := body.text("offer_id")
	withoutBid := r.list("/offers")
	withoutBid = slices.DeleteFunc(withoutBid, func(o object) bool { return o.value("price.interruptible_kop_h") != nil })
	account := func(set object) func() { return func() { r.setAccount(set) } }
	market := func(set object) func() { return func() { r.setOffer(offer, set) } }
	r.setAccount(object{"balance_kop": 10_000_000})
	for _, c := range []struct {
		code, reason string
		body         object
		set, restore func()
	}{
		{"not_found", "", r.instanceBody(object{"offer_id": "none"}), nil, nil},
		{"not_found", "", r.instanceBody(object{"template": "none"}), nil, nil},
		{"validation_error", "", r.instanceBody(object{"disk_gb": 1}), nil, nil},
		{"validation_error", "", r.instanceBody(object{"offer_id": withoutBid[0]["id"], "type": "interruptible"}), nil, nil},
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
		equal(t, "details.reason", r.create("the key", c.body).failsWith(c.code).text("reason"), c.reason)
		if c.restore != nil {
			c.restore()
		}
	}
	equal(t, "instances", len(r.list("/instances?status=all")), 0)
	r.create("the key", body).created()

	r.create(unique("k"), body).failsWith("conflict") // the offer is taken
	second := r.createInstance(nil)
	r.create(unique("k"), r.instanceBody(nil)).failsWith("conflict") // the limit of instances
	r.destroy(second.text("id"))
	r.createInstance(nil)
}

// "409 when the price changed": the price of the rental type differs from the price that the caller was shown last, in
// a list, by GET /offers/{id} or in the details of an earlier 409. Offers are public, so requests without a key count
// as well.
func TestRent_PriceChanged(t *testing.T) {
	r := newFundedClient(t)
	for where, look := range map[string]func(offer string){
		"in a list":                func(string) { r.list("/offers") },
		"alone":                    func(offer string) { r.get("/offers/" + offer).ok() },
		"alone, without a key":     func(offer string) { r.withKey("").get("/offers/" + offer).ok() },
		"in a list of other types": func(string) { r.withKey("").list("/offers?type=interruptible") },
	} {
		for _, kind := range []string{"on_demand", "interruptible"} {
			for _, change := range []int64{1, -1} {
				what := fmt.Sprintf("%s price shown %s, changed by %d", kind, where, change)
				body := r.instanceBody(object{"type": kind})
				offer := body.text("offer_id")
				price := r.get("/offers/"+offer).ok().integer("price."+kind+"_kop_h") + change
				r.reset()
				look(offer)
				r.setOffer(offer, object{kind + "_kop_h": price})
				key := unique("k")
				details := r.create(key, body).failsWith("conflict")
				equal(t, what+": details.price_kop_h", details.integer("price_kop_h"), price)
				// The error shows the new price and does not use up the key.
				o := r.create(key, body).created()
				equal(t, what+": running_kop_h", o.integer("price.running_kop_h"), price)
				r.reset()
			}
		}
	}
}

// Price changes that do not affect the shown price cause no conflict.
func TestRent_PriceNotChanged(t *testing.T) {
	r := newFundedClient(t)
	body := r.instanceBody(nil)
	offer := body.text("offer_id")
	price := r.get("/offers/" + offer).ok().integer("price.on_demand_kop_h")
	r.setOffer(offer, object{"interruptible_kop_h": 1})
	r.setOffer(offer, object{"on_demand_kop_h": price + 5})
	r.setOffer(offer, object{"on_demand_kop_h": price})
	equal(t, "restored price", r.create(unique("k"), body).created().integer("price.running_kop_h"), price)

	body = r.instanceBody(nil)
	r.reset()
	r.setOffer(body.text("offer_id"), object{"on_demand_kop_h": price + 9})
	o := r.create(unique("k"), body).created()
	equal(t, "price that was not shown", o.integer("price.running_kop_h"), price+9)
}

// A repeated create returns the instance, whatever the state of the instance, the market and the account is.
func TestRent_Replay(t *testing.T) {
	r := newFundedClient(t)
	body := r.instanceBody(object{"template": r.newTemplate()})
	other := r.instanceBody(object{"offer_id": r.list("/offers?order=-price")[0]["id"], "disk_gb": 50})
	first := r.create("the key", body).want(http.StatusCreated)
	equal(t, "Idempotent-Replayed of a creation", first.header.Get("Idempotent-Replayed"), "")
	id := first.object().text("id")
	replay := func(when string) {
		t.Helper()
		for _, body := range []object{body, other} {
			a := r.create("the key", body).want(http.StatusOK)
			equal(t, when+": Idempotent-Replayed", a.header.Get("Idempotent-Replayed"), "true")
			equal(t, when+": the instance", asJSON(a.object()), asJSON(r.instance(id)))
		}
	}
	replay("at once")
	r.waitFor(id, "running")
	r.delete("/templates/" + body.text("template")).want(http.StatusNoContent)
	replay("template deleted")
	r.setAccount(object{"max_instances": 1, "email_verified": false})
	replay("limit of instances reached")
	r.setOffer(body.text("offer_id"), object{"available": false, "on_demand_kop_h": 99})
	replay("offer not available")
	for _, status := range statuses {
		r.setInstance(id, object{"status": status})
		replay("status " + status)
	}
	r.Advance(30 * 24 * time.Hour)
	r.setAccount(object{"balance_kop": 0})
	replay("a month later, without money")
	equal(t, "instances", len(r.list("/instances?status=all")), 1)
	r.setAccount(object{"balance_kop": 10_000_000, "email_verified": true})
	r.create("another key", other).created()
}

// Of concurrent creates with one key, one creates an instance and the others return it. Of concurrent creates for one
// offer, one succeeds and the others fail with a conflict.
func TestRent_Race(t *testing.T) {
	r := newFundedClient(t)
	offers := r.list("/offers")
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
		return r.create("one key", object{"offer_id": offers[n%2]["id"], "template": "ubuntu", "disk_gb": 10})
	})
	all := r.list("/instances?status=all")
	check(t, created == 1 && len(all) == 1, "%d responses 201, %d instances", created, len(all))
	for _, a := range replays {
		equal(t, "id of a replay", a.want(http.StatusOK).object().text("id"), all[0].text("id"))
	}
	body := r.instanceBody(nil)
	created, conflicts := concurrently(func(n int) response { return r.create(fmt.Sprint(n), body) })
	equal(t, "responses 201 for one server", created, 1)
	for _, a := range conflicts {
		a.failsWith("conflict")
	}
}
