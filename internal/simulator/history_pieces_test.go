package simulator_test

import (
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// TestHistoryPieces leads two simulators of one seed through the same random history, with a market that moves by
// itself. One goes through time in one leap where the other takes many steps, is asked at each, and is killed and
// brought back now and then. Every answer is the same to the byte: the history decides alone, not who looks when.
func TestHistoryPieces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := newPair(t, rt)
		rt.Repeat(map[string]func(*rapid.T){
			"rent": p.rent, "rent too": p.rent,
			"start": p.act("POST", "/start"), "stop": p.act("POST", "/stop"), "destroy": p.act("DELETE", ""),
			"offer": p.setOffer, "instance": p.setInstance, "account": p.setAccount,
			"keys": p.addKey, "template": p.addTemplate, "wait": p.wait, "wait on": p.wait, "reset": p.reset,
		})
		p.compare()
		checkBooks(p.leaping)
	})
}

// pair is two simulators that must not be told apart.
type pair struct {
	rt                *rapid.T
	leaping, stepping *rig
	config            simulator.Config // of the one that steps
	offers, ids       []string
	made              int
}

func newPair(t testing.TB, rt *rapid.T) *pair {
	p := &pair{rt: rt}
	boot := rapid.SampledFrom([]time.Duration{time.Millisecond, 4 * time.Millisecond, 999 * time.Millisecond, 8 * time.Second}).Draw(rt, "boot")
	p.config = simulator.Config{
		Seed: rapid.Uint64Range(0, 3).Draw(rt, "seed"), Clock: simulator.ClockManual, Start: historyStart, Boot: boot,
		APIKey: testKey, Market: simulator.MarketMoving,
	}
	p.leaping = bareRig(rapidTB{t, rt}, p.config)
	for _, o := range showcase(p.leaping, p.config.Seed) {
		p.offers = append(p.offers, o.ID)
	}
	if oneIn(20).Draw(rt, "kept") {
		p.config.State = filepath.Join(t.TempDir(), "state.json")
	}
	p.stepping = bareRig(rapidTB{t, rt}, p.config)
	return p
}

// both sends a request to both, and returns what they answer alike.
func (p *pair) both(method, target string, body any, header ...string) answer {
	ask := func(r *rig) answer {
		if len(header) > 0 {
			r = r.with(header[0], header[1])
		}
		return r.raw(method, target, jsonBody(r.t, body))
	}
	a, b := ask(p.leaping), ask(p.stepping)
	if a.status != b.status || string(a.raw) != string(b.raw) || a.status == http.StatusInternalServerError {
		p.rt.Fatalf("%s %s at %v:\n%d %s\n%d %s", method, target, p.leaping.Now(), a.status, a.raw, b.status, b.raw)
	}
	return a
}

func (p *pair) rent(rt *rapid.T) {
	p.made++
	offer := rapid.SampledFrom(p.offers).Draw(rt, "offer")
	// A restart forgets what was shown to whom.
	p.both("GET", "/api/v1/offers/"+offer, nil)
	a := p.both("POST", "/api/v1/instances", m{
		"offer_id": offer, "disk_gb": rapid.IntRange(20, 200).Draw(rt, "disk"),
		"template": rapid.SampledFrom([]string{"pytorch", "ubuntu", "custom"}).Draw(rt, "template"),
		"type":     rapid.SampledFrom([]string{"on_demand", "interruptible"}).Draw(rt, "type"),
	}, "Idempotency-Key", fmt.Sprint("key", p.made/2)) // every other one is a repeat
	if a.status == 201 {
		var i instance
		a.into(&i)
		p.ids = append(p.ids, i.ID)
	}
}

// id draws the id of an instance, or one that nobody has.
func (p *pair) id(rt *rapid.T) string {
	if len(p.ids) == 0 {
		return "ins_none"
	}
	return rapid.SampledFrom(p.ids).Draw(rt, "instance")
}

func (p *pair) act(method, what string) func(*rapid.T) {
	return func(rt *rapid.T) { p.both(method, "/api/v1/instances/"+p.id(rt)+what, nil) }
}

// some keeps a random part of the members of a body.
func some(rt *rapid.T, body m) m {
	for _, name := range slices.Sorted(maps.Keys(body)) {
		if rapid.IntRange(0, 2).Draw(rt, name) > 0 {
			delete(body, name)
		}
	}
	return body
}

func (p *pair) setOffer(rt *rapid.T) {
	price := rapid.IntRange(0, 6000)
	p.both("PATCH", "/control/offers/"+rapid.SampledFrom(p.offers).Draw(rt, "offer"), some(rt, m{
		"available": rapid.Bool().Draw(rt, "available"), "online": rapid.Bool().Draw(rt, "online"),
		"fail_boots": rapid.Bool().Draw(rt, "fail"), "on_demand_kop_h": price.Draw(rt, "price"),
		"interruptible_kop_h": price.Draw(rt, "bid"),
	}))
}

func (p *pair) setInstance(rt *rapid.T) {
	p.both("PATCH", "/control/instances/"+p.id(rt), some(rt, m{
		"status": rapid.SampledFrom([]string{
			"creating", "starting", "running", "stopping", "stopped", "destroying", "destroyed", "failed", "outbid",
		}).Draw(rt, "status"),
		"desired_state": rapid.SampledFrom([]string{"running", "stopped", "destroyed"}).Draw(rt, "desired"),
		"stop_reason":   rapid.SampledFrom([]any{nil, "user", "admin"}).Draw(rt, "reason"),
		"traffic_gb":    rapid.Float64Range(0, 50).Draw(rt, "gb"),
	}))
}

func (p *pair) setAccount(rt *rapid.T) {
	p.both("PATCH", "/control/account", some(rt, m{
		"balance_kop":      rapid.IntRange(-1000, 60_000).Draw(rt, "balance"),
		"credit_limit_kop": rapid.IntRange(0, 9000).Draw(rt, "credit"),
		"max_instances":    rapid.IntRange(0, 9).Draw(rt, "most"),
	}))
}

func (p *pair) addKey(*rapid.T) { p.both("POST", "/api/v1/ssh-keys", m{"public_key": ed25519A}) }

func (p *pair) addTemplate(*rapid.T) {
	p.both("POST", "/api/v1/templates", m{"name": "mine", "image": "a/b:1"})
}

func (p *pair) reset(rt *rapid.T) {
	if !oneIn(10).Draw(rt, "reset") {
		return
	}
	p.both("POST", "/control/reset", nil)
	p.leaping.SetRateLimit(0, 0)
	p.stepping.SetRateLimit(0, 0)
	p.ids = nil
}

// wait lets the same time pass on both.
func (p *pair) wait(rt *rapid.T) {
	grain := time.Microsecond // finer than the service's own: what is left of a step must not get lost
	if p.config.State != "" {
		grain = time.Millisecond // what a file keeps
	}
	most := rapid.SampledFrom([]time.Duration{5 * time.Millisecond, 10 * time.Second, 3 * time.Hour, 30 * time.Hour}).Draw(rt, "scale")
	d := rapid.Int64Range(1, int64(most/grain)).Draw(rt, "duration")
	p.leaping.Advance(time.Duration(d) * grain)
	cuts := rapid.SliceOfN(rapid.Int64Range(0, d), 1, 5).Draw(rt, "cuts")
	slices.Sort(cuts)
	past := int64(0)
	for _, cut := range append(cuts, d) {
		p.stepping.Advance(time.Duration(cut-past) * grain)
		past = cut
		p.peek(rt)
	}
	if a, b := p.leaping.Now(), p.stepping.Now(); !a.Equal(b) {
		rt.Fatalf("it is %v in a leap, %v in steps", a, b)
	}
}

// peek asks the one that steps about something, or kills it and brings it back.
func (p *pair) peek(rt *rapid.T) {
	switch rapid.IntRange(0, 4).Draw(rt, "peek") {
	case 0:
		p.stepping.do("GET", "/balance", nil)
	case 1:
		p.stepping.do("GET", "/instances/"+p.id(rt), nil)
	case 2:
		p.stepping.Overview()
	case 3:
		if p.config.State != "" {
			p.stepping = bareRig(p.stepping.t, p.config)
		}
	}
}

// compare asks both about everything.
func (p *pair) compare() {
	paths := []string{
		"/balance", "/transactions?limit=200", "/instances?status=all&limit=200", "/offers?limit=200", "/gpus", "/templates?limit=200",
		"/ssh-keys?limit=200", "/api-keys",
	}
	for _, id := range p.ids {
		paths = append(paths, "/instances/"+id, "/instances/"+id+"/logs?tail=1000")
	}
	for _, id := range p.offers {
		paths = append(paths, "/offers/"+id)
	}
	for _, path := range paths {
		p.both("GET", "/api/v1"+path, nil)
	}
}
