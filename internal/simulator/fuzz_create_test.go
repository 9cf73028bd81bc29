package simulator_test

import (
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// FuzzCreateInstance sends any Idempotency-Key and body. A create that succeeds is repeated and returns the same
// instance; a create that is refused rents nothing, charges nothing and does not use up its key.
// FREE in the body is replaced by the id of an available offer.
func FuzzCreateInstance(f *testing.F) {
	const good = `{"offer_id":"FREE","template":"ubuntu","disk_gb":50}`
	for _, body := range []string{
		good, `{"offer_id":"FREE","template":"custom","disk_gb":10,"image":"a/b:1","env":{},"onstart":null,` +
			`"ssh_key_ids":[],"name":"n"}`,
		`{"offer_id":"none","template":"none","disk_gb":2001,"ssh_key_ids":["none",null],"type":"spot","name":null}`,
		`{}`, `[`,
	} {
		f.Add("key", body)
		f.Add(strings.Repeat("ю", 65), body)
	}
	config := simulator.Config{Seed: 7, Clock: simulator.ClockManual, Start: historyStart, APIKey: testKey,
		Market: simulator.MarketStill}
	free := uncheckedClient(f, config).instanceBody(nil).text("offer_id")
	f.Fuzz(func(t *testing.T, key, body string) {
		isControl := func(c rune) bool { return c < ' ' || c == 0x7f }
		if strings.TrimSpace(key) != key || strings.ContainsFunc(key, isControl) {
			return // net/http refuses the header
		}
		api := uncheckedClient(t, config)
		create := func(body string) response {
			return api.withHeader("Idempotency-Key", key).post("/instances", strings.ReplaceAll(body, "FREE", free))
		}
		a := create(body)
		validKey := key != "" && utf8.RuneCountInString(key) <= 64
		all := api.list("/instances?status=all")
		checkLedger(api, nil)
		if a.status == http.StatusCreated {
			created, repeated := a.object(), create("").want(http.StatusOK)
			check(t, validKey && len(all) == 1 && all[0]["id"] == created["id"] && created.text("status") == "creating",
				"key %q: created %s, instances %+v", key, a.body, all)
			check(t, string(repeated.body) == string(a.body) && repeated.header.Get("Idempotent-Replayed") == "true",
				"created %s, repeated %s", a.body, repeated.body)
			return
		}
		codes := map[int]string{404: "not_found", 409: "conflict", 413: "validation_error", 422: "validation_error"}
		a.failsWithStatus(a.status, codes[a.status])
		equal(t, "instances after a refusal", len(all), 0)
		if validKey {
			create(good).want(http.StatusCreated)
		}
	})
}
