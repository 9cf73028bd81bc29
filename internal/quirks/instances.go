package quirks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const (
	// maxMovePercent is the maximum price change of a quirk.
	maxMovePercent = 4
	// maxPriceKopH is the maximum of prices in the simulator.
	maxPriceKopH = 10_000_000
)

// LockPrice implements price-moves-on-create and price-moves-on-start. It lowers and raises the price in turns.
func (q *Set) LockPrice(offerID string, start bool, kopH int64) int64 {
	a, quirk := q.now(), priceMovesOnCreate
	if start {
		quirk = priceMovesOnStart
	}
	if !a.has(quirk) {
		return kopH
	}
	n := a.increment(quirk + " " + offerID)
	percent := 1 + int64(q.randomInt(maxMovePercent, quirk, offerID, n))
	by := max(kopH*percent/100, 1)
	if (q.randomInt(2, quirk, "direction", offerID)+n)%2 == 0 {
		return max(kopH-by, 0)
	}
	return min(kopH+by, maxPriceKopH)
}

// creation is a successful creation of an instance.
type creation struct {
	id string
	// first is the first response, nil if first-answer-replays was off.
	first []byte
	// forgotten is how often the service has forgotten the key.
	forgotten int
}

// createInstance returns a service for a creation. It records the instance, even without quirks, and implements
// forgotten-keys, first-answer-replays, refused-disks and phantom-offers.
func (q *Set) createInstance(a *active, op *operation, service http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		known := q.creation(key)
		if a.has(forgottenKeys) && q.simulator.Load().Instance(known.id).Status == "destroyed" {
			known = creation{forgotten: known.forgotten + 1}
		}
		if known.forgotten > 0 { // another key has the effect that the service does not know this one
			sum := fnv.New64a()
			fmt.Fprint(sum, key)
			r.Header.Set("Idempotency-Key", fmt.Sprintf("forgotten-%d-%x", known.forgotten, sum.Sum64()))
		}
		refused := a.refuseOffer(op, r)
		reply := record(service, w, r)
		switch {
		case reply.Code == http.StatusNotFound && refused != nil:
			refused.write(w)
			return
		case reply.Code == http.StatusOK && known.first != nil && a.has(firstAnswerReplays):
			reply.Body = bytes.NewBuffer(known.first)
		case reply.Code < http.StatusMultipleChoices && known.id == "":
			if reply.Code == http.StatusCreated && a.has(firstAnswerReplays) {
				known.first = bytes.Clone(reply.Body.Bytes())
			}
			q.recordCreation(key, known, decode(reply.Body.Bytes()))
		}
		send(w, reply.Code, reply.Header(), reply.Body.Bytes())
	})
}

// creation returns the creation with a key of the client, the zero value if there is none.
func (q *Set) creation(key string) creation {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.creations[key]
}

// recordCreation records a new instance, or one whose first response was lost before it came here.
func (q *Set) recordCreation(key string, made creation, instance map[string]any) {
	made.id = identifier(instance)
	at := q.simulator.Load().Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.creations[key] = made
	q.createdAt[made.id] = at
	q.instances = append(q.instances, made.id)
	if instance["type"] == "interruptible" {
		q.beforeStart = append(q.beforeStart, made.id)
	}
}

// outbidStarted implements outbid-soon-after-start: it raises the market price above the bid of the instances that run
// for the first time, before a client can read their addresses.
func (q *Set) outbidStarted() {
	q.mu.Lock()
	outbids, waiting := q.active.has(outbidSoonAfterStart), slices.Clone(q.beforeStart)
	q.mu.Unlock()
	for _, id := range waiting {
		i := q.simulator.Load().Instance(id)
		switch i.Status {
		case "running", "outbid", "destroying", "destroyed":
		default:
			continue
		}
		q.mu.Lock()
		q.beforeStart = slices.DeleteFunc(q.beforeStart, func(other string) bool { return other == id })
		q.mu.Unlock()
		if i.Status == "running" && outbids {
			market := min(i.BidKopH+max(i.BidKopH*maxMovePercent/100, 1), maxPriceKopH)
			if err := q.simulator.Load().SetOffer(i.OfferID, simulator.OfferPatch{InterruptibleKopH: &market}); err != nil {
				panic(err)
			}
		}
	}
}

// refusal returns the response of lagging-get or busy-while-booting in place of the work, nil for none.
func (res *response) refusal() *failure {
	if res.has(laggingGet) && (res.schema == "Instance" || res.schema == "InstanceLogs") {
		lag := time.Duration(1+res.randomInt(3, laggingGet, res.resourceID)) * time.Second
		res.mu.Lock()
		created, known := res.createdAt[res.resourceID]
		res.mu.Unlock()
		if known && res.now.Before(created.Add(lag)) {
			return apiFailure(http.StatusNotFound, "not_found", "Instance not found")
		}
	}
	if res.has(busyWhileBooting) && res.ID == "deleteInstance" {
		i := res.simulator.Load().Instance(res.resourceID)
		if i.Status == "creating" || i.Status == "starting" {
			return apiFailure(http.StatusConflict, "conflict",
				fmt.Sprintf("The state %s (desired state %s) does not allow it", i.Status, i.DesiredState))
		}
	}
	return nil
}

// billFailed implements failed-is-billed.
func (res *response) billFailed() {
	if res.ID != "getBalance" {
		return
	}
	res.mu.Lock()
	instances := slices.Clone(res.instances)
	res.mu.Unlock()
	burn, err := strconv.ParseInt(fmt.Sprint(res.content["burn_kop_h"]), 10, 64)
	if err != nil {
		return // a proxy of a test has removed it
	}
	for _, id := range instances {
		if i := res.simulator.Load().Instance(id); i.Status == "failed" {
			burn += i.RunningKopH
		}
	}
	res.content["burn_kop_h"] = json.Number(strconv.FormatInt(burn, 10))
}
