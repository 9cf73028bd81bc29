package simulator_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// The details of POST /instances, in the order of the document. The random histories test prices and funds.

// rentOnce creates an instance with a new Idempotency-Key and destroys it, so that the offer is available again.
func (api *client) rentOnce(body object) response {
	api.t.Helper()
	a := api.create(unique("k"), body)
	if a.status == http.StatusCreated {
		api.setInstance(a.object().text("id"), object{"status": "destroyed"})
	}
	return a
}

func TestRent_IdempotencyKeyBounds(t *testing.T) {
	api := newFundedClient(t)
	body := api.instanceBody(nil)
	api.post("/instances", body).invalid("Idempotency-Key")
	for _, key := range []string{"", strings.Repeat("k", 65), strings.Repeat("ю", 65)} {
		api.create(key, body).invalid("Idempotency-Key")
	}
	equal(t, "instances", len(api.list("/instances?status=all")), 0)
	for _, key := range []string{"k", strings.Repeat("ю", 64), "a b/c?d=e:f"} {
		api.create(key, api.instanceBody(nil)).created()
	}
}

func TestRent_Bounds(t *testing.T) {
	api := newFundedClient(t)
	var keys []any
	for n := range 11 {
		keys = append(keys, api.newSSHKey(byte(n))["id"])
	}
	body := api.instanceBody(nil)
	checkField(body, "ssh_key_ids", []any{keys[:10]}, []any{keys}, api.rentOnce)
	checkField(body, "offer_id", nil, []any{""}, api.rentOnce)
	checkField(body, "template", nil, []any{""}, api.rentOnce)
}

// The disk must be at least the template's minimum and at most the disk of the server.
func TestRent_DiskOfTemplateAndServer(t *testing.T) {
	api := newFundedClient(t)
	for _, template := range api.withKey("").list("/templates") {
		if least := template.integer("min_disk_gb"); least > 10 && template.text("slug") != "custom" {
			body := api.instanceBody(object{"template": template["slug"]})
			checkField(body, "disk_gb", []any{least}, []any{least - 1}, api.rentOnce)
		}
	}
	small := api.list("/offers")
	small = slices.DeleteFunc(small, func(o object) bool {
		most := o.integer("disk.max_gb")
		return most == 0 || most >= 2000
	})
	for _, o := range small[:5] {
		most := o.integer("disk.max_gb")
		checkField(object{"offer_id": o["id"], "template": "ubuntu"}, "disk_gb", []any{most}, []any{most + 1}, api.rentOnce)
	}
}

// Only the custom template accepts an image.
func TestRent_CustomImage(t *testing.T) {
	api := newFundedClient(t)
	body := api.instanceBody(nil)
	for _, template := range []string{"ubuntu", api.newTemplate()} {
		body["template"] = template
		checkField(body, "image", nil, []any{"alpine:3"}, api.rentOnce)
	}
	body["template"] = "custom"
	checkField(body, "image", []any{"ghcr.io/team/app:1"}, []any{"", "no tag"}, api.rentOnce)
	body["image"] = "ghcr.io/team/app:1"
	equal(t, "image", api.create(unique("custom"), body).created().text("image"), "ghcr.io/team/app:1")
}

// An error creates nothing and does not use up the key.
func TestRent_Errors(t *testing.T) {
	api := newFundedClient(t)
	body := api.instanceBody(nil)
	offer := body.text("offer_id")
	withoutBid := api.list("/offers")
	withoutBid = slices.DeleteFunc(withoutBid, func(o object) bool { return o.value("price.interruptible_kop_h") != nil })
	account := func(set object) func() { return func() { api.setAccount(set) } }
	market := func(set object) func() { return func() { api.setOffer(offer, set) } }
	api.setAccount(object{"balance_kop": 10_000_000})
	for _, c := range []struct {
		code, reason string
		body         object
		set, restore func()
	}{
		{"not_found", "", api.instanceBody(object{"offer_id": "none"}), nil, nil},
		{"not_found", "", api.instanceBody(object{"template": "none"}), nil, nil},
		{"validation_error", "", api.instanceBody(object{"disk_gb": 1}), nil, nil},
		{"validation_error", "", api.instanceBody(object{"offer_id": withoutBid[0]["id"], "type": "interruptible"}), nil,
			nil},
		{"insufficient_funds", "", body, account(object{"balance_kop": 0}), account(object{"balance_kop": 10_000_000})},
		{"forbidden", "email_not_verified", body, account(object{"email_verified": false}),
			account(object{"email_verified": true})},
		{"conflict", "", body, account(object{"max_instances": 0}), account(object{"max_instances": 2})},
		{"conflict", "", body, market(object{"available": false}), market(object{"available": true})},
	} {
		if c.set != nil {
			c.set()
		}
		equal(t, "details.reason", api.create("the key", c.body).failsWith(c.code).text("reason"), c.reason)
		if c.restore != nil {
			c.restore()
		}
	}
	equal(t, "instances", len(api.list("/instances?status=all")), 0)
	api.create("the key", body).created()

	api.create(unique("k"), body).failsWith("conflict") // the offer is taken
	second := api.createInstance(nil)
	api.create(unique("k"), api.instanceBody(nil)).failsWith("conflict") // the limit of instances
	api.delete("/instances/" + second.text("id")).ok()
	api.waitFor(second.text("id"), "destroyed")
	api.createInstance(nil)
}

// "409 when the price changed": the price of the rental type differs from the price that the caller was shown last, in
// a list, by GET /offers/{id} or in the details of an earlier 409. Offers are public, so requests without a key count
// as well.
func TestRent_PriceChanged(t *testing.T) {
	api := newFundedClient(t)
	kinds := []string{"on_demand", "interruptible"}
	for where, look := range map[string]func(offer string){
		"in a list":                func(string) { api.list("/offers") },
		"alone":                    func(offer string) { api.get("/offers/" + offer).ok() },
		"alone, without a key":     func(offer string) { api.withKey("").get("/offers/" + offer).ok() },
		"in a list of other types": func(string) { api.withKey("").list("/offers?type=interruptible") },
	} {
		for n, kind := range kinds {
			what := kind + " price shown " + where
			body := api.instanceBody(object{"type": kind})
			offer, field := body.text("offer_id"), kind+"_kop_h"
			shown := api.get("/offers/" + offer).ok().integer("price." + field)
			price := shown + 1 - 2*int64(n) // higher, then lower
			api.reset()
			look(offer)
			api.setOffer(offer, object{field: price})
			key := unique("k")
			details := api.create(key, body).failsWith("conflict")
			equal(t, what+": details.price_kop_h", details.integer("price_kop_h"), price)
			// The error shows the new price and does not use up the key. A price in between, or of the other type, is no
			// change.
			api.setOffer(offer, object{field: shown, kinds[1-n] + "_kop_h": 1})
			api.setOffer(offer, object{field: price})
			o := api.create(key, body).created()
			equal(t, what+": running_kop_h", o.integer("price.running_kop_h"), price)
			api.reset()
		}
	}
}

// A repeated create returns the instance, whatever the state of the instance, the market and the account is.
func TestRent_Replay(t *testing.T) {
	api := newFundedClient(t)
	body := api.instanceBody(object{"template": api.newTemplate()})
	other := api.instanceBody(object{"offer_id": api.list("/offers?order=-price")[0]["id"], "disk_gb": 50})
	first := api.create("the key", body).want(http.StatusCreated)
	equal(t, "Idempotent-Replayed of a creation", first.header.Get("Idempotent-Replayed"), "")
	id := first.object().text("id")
	replay := func(when string) {
		t.Helper()
		for _, body := range []object{body, other} {
			a := api.create("the key", body).want(http.StatusOK)
			equal(t, when+": Idempotent-Replayed", a.header.Get("Idempotent-Replayed"), "true")
			equal(t, when+": the instance", asJSON(a.object()), asJSON(api.instance(id)))
		}
	}
	replay("at once")
	api.waitFor(id, "running")
	api.delete("/templates/" + body.text("template")).want(http.StatusNoContent)
	replay("template deleted")
	api.setAccount(object{"max_instances": 1, "email_verified": false})
	replay("limit of instances reached")
	api.setOffer(body.text("offer_id"), object{"available": false, "on_demand_kop_h": 99})
	replay("offer not available")
	for _, status := range statuses {
		api.setInstance(id, object{"status": status})
		replay("status " + status)
	}
	api.Advance(30 * 24 * time.Hour)
	api.setAccount(object{"balance_kop": 0})
	replay("a month later, without money")
	equal(t, "instances", len(api.list("/instances?status=all")), 1)
	api.setAccount(object{"balance_kop": 10_000_000, "email_verified": true})
	api.create("another key", other).created()
}
