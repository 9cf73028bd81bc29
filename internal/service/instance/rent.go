package instance

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/poll"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// rented is the server that a creation received.
type rented struct {
	rental.Instance
	// offerID is what it was rented from; empty when an earlier run rented it.
	offerID string
	// offer is what offerID was like before the request; nil when it was not read.
	offer *rental.Offer
	// replayed: the answer was a replay for the idempotency key.
	replayed bool
	// takenOver: an earlier run rented it with the same key.
	takenOver bool
	// creation identifies this creation in the private state of a server that was taken over.
	creation string
	// twinTemplate is the slug of the template it was made from, where that is not
	// the configured one but has the same content; else empty.
	twinTemplate string
	// unreadable is why a part of the answer could not be read; nil when all of it was.
	unreadable error
}

// state is what is saved at once, before anything can fail.
func (s rented) state(plan model) model {
	plan.RentedOfferID = tfkit.Text(s.offerID)
	plan.QuotedKopH = types.Int64Value(s.Price.RunningKopH)
	return plan
}

// graceBeyondRequest is how much longer than one request the create request may go on after the run was interrupted or
// timeouts.create expired.
const graceBeyondRequest = 10 * time.Second

// rent spends the money: it chooses an offer and makes the one request for it.
// That request is not cut off when the run is interrupted or timeouts.create expires: a request whose
// answer nobody reads would leave a server billing that no state knows.
func (r *instanceResource) rent(ctx context.Context, plan model, diags *diag.Diagnostics) (rented, bool) {
	order, problems := toCreate(ctx, plan)
	diags.Append(problems...)
	if diags.HasError() {
		return rented{}, false
	}
	keys := newKeySeries(plan.IdempotencyKey.ValueString())
	holder := keyHolder{name: plan.Name.ValueString()}
	end, other, clash := r.fleet().keys.create(keys.base, holder)
	if clash {
		addSharedKey(diags, keys.base, holder, other)
		return rented{}, false
	}
	defer end()
	postCtx, stop := tfkit.DetachFor(ctx, r.Meta.Client.RequestTimeout()+graceBeyondRequest)
	defer stop()
	c := &creation{
		meta: r.Meta, client: r.Meta.Client, interval: r.Meta.PollInterval, fleet: r.fleet(),
		keys: keys, order: order, plan: plan, began: r.Meta.Client.Now(),
	}
	c.checkLimits = r.postponedCheck(plan, diags)
	if r.Meta.Run.Single() { // otherwise the listing may be from after the request
		c.before, _ = r.fleet().instances(ctx, r.Meta) //nolint:errcheck // without a listing, every answer is taken for new
	}
	server, err := c.choose(ctx, postCtx)
	if !r.Meta.Run.Single() {
		c.releaseOffers() // from now on the service says which offers are available
	}
	if ctx.Err() != nil && c.endedBeforeRental(err, ctx.Err()) {
		err = &endedEarly{cause: ctx.Err()}
	}
	switch {
	case errors.Is(err, reportedError{}):
		return rented{}, false
	case err != nil:
		addRentError(diags, err)
		return rented{}, false
	}
	return server, true
}

// endedBeforeRental reports whether the end of the run or of timeouts.create is why nothing was rented.
func (c *creation) endedBeforeRental(err, end error) bool {
	var unknown *unknownOutcome
	return err != nil && (!c.asked || errors.Is(err, end)) && !errors.As(err, &unknown)
}

// madeFromTwin says whether a server was made from another template than the
// configured one, but with the same content: a run that was killed may have made
// both template and server, and this run the template once more.
func (c *creation) madeFromTwin(ctx context.Context, inst rental.Instance) bool {
	if inst.Template.Slug == "" || inst.Template.Slug == c.plan.Template.ValueString() {
		return false
	}
	one, found, err := tfkit.FindTemplate(ctx, c.meta, inst.Template.Slug)
	other, alsoFound, alsoErr := tfkit.FindTemplate(ctx, c.meta, c.plan.Template.ValueString())
	return err == nil && alsoErr == nil && found && alsoFound && sameContent(one, other)
}

// creation makes the request for one server, under one series of keys.
type creation struct {
	meta     *tfkit.Meta
	client   *rental.Client
	interval time.Duration // first pause between two tries to learn an outcome
	fleet    *fleet
	keys     *keySeries
	order    rental.InstanceCreate
	plan     model
	// checkLimits checks the spending limits for the price of an offer, kopecks per hour; nil when the plan did.
	checkLimits func(ctx context.Context, kopH int64) error

	before   map[string]rental.Instance // servers that were listed before this run rented anything
	began    time.Time                  // by the service's clock
	asked    bool                       // a request to rent was made
	reserved []string                   // offers that no other creation takes meanwhile
	seen     map[string]rental.Offer    // offers as they were last read
}

// limit is the price cap in kopecks per hour, 0 for none.
func (c *creation) limit() int64 { return c.plan.MaxPriceKopH.ValueInt64() }

// reserve is false for an offer that another creation has reserved.
func (c *creation) reserve(offerID string) bool {
	if !c.fleet.offers.reserve(offerID) {
		return false
	}
	c.reserved = append(c.reserved, offerID)
	return true
}

// goneFor is how long an offer that is gone stays reserved, so that other creations need not read it. The service
// refreshes its market about every minute.
const goneFor = time.Minute

// release ends the reservation of an offer after an attempt to rent from it, unless it is rented or may be.
func (c *creation) release(offerID string, state offerState, server rented, err error) {
	var unknown *unknownOutcome
	if !slices.Contains(c.reserved, offerID) || errors.As(err, &unknown) || err == nil && server.offerID == offerID {
		return
	}
	c.reserved = slices.DeleteFunc(c.reserved, func(id string) bool { return id == offerID })
	if state == offerGone {
		c.fleet.offers.releaseAfter(offerID, goneFor)
		return
	}
	c.fleet.offers.release(offerID)
}

func (c *creation) releaseOffers() {
	for _, offerID := range c.reserved {
		c.fleet.offers.release(offerID)
	}
}

// unknownOutcome says that a server may or may not have been rented.
type unknownOutcome struct {
	key    string
	random bool
	err    error
}

func (e *unknownOutcome) Error() string { return e.err.Error() }

func (e *unknownOutcome) Unwrap() error { return e.err }

var errKeysUsedUp = errors.New("all keys of the series were used for servers that are destroyed by now")

// post rents from an offer, or learns what was rented under the key before. A
// key whose server is destroyed is used up: the next of the series is for the
// server that takes its place.
func (c *creation) post(ctx context.Context, offerID string) (rented, error) {
	order := c.order
	order.OfferID = offerID
	c.asked = true
	for {
		server, err := c.create(ctx, order)
		if err != nil {
			return rented{}, err
		}
		if !server.replayed || !gone(server.Instance) {
			owned, err := c.own(ctx, &server)
			if owned || err != nil {
				return server, err
			}
		}
		if !c.keys.next() {
			return rented{}, errKeysUsedUp
		}
	}
}

// create makes the request until its outcome is known, and says where the server comes from.
func (c *creation) create(ctx context.Context, order rental.InstanceCreate) (rented, error) {
	inst, replayed, err := c.settle(ctx, order)
	if err != nil && inst.ID == "" {
		return rented{}, err
	}
	server := rented{Instance: inst, offerID: order.OfferID, replayed: replayed, unreadable: err}
	if offer, ok := c.seen[order.OfferID]; ok {
		server.offer = &offer
	}
	if replayed && !c.keys.random && inst.CreatedAt.IsZero() {
		inst = readOmitted(ctx, c.client, inst)
		server.Instance = inst
	}
	// The service returns times to the second. A random key is known to this creation only.
	if replayed && !c.keys.random && inst.CreatedAt.Before(c.began.Add(-time.Second)) {
		server.takenOver = true
	}
	if server.takenOver || order.OfferID == noOffer {
		server.offerID, server.offer = "", nil
	}
	return server, nil
}

// own makes a server that the service returned this creation's. It is false for one that another resource of this run
// is destroying. The server of another resource, and one that an earlier run rented with other arguments, are errors.
func (c *creation) own(ctx context.Context, server *rented) (bool, error) {
	holder := keyHolder{id: server.ID, name: nameOf(server.Instance)}
	switch c.fleet.keys.claim(server.ID, c.fleet.ids.has(server.ID)) {
	case claimDestroying:
		if server.replayed {
			return false, nil
		}
		return false, &foreignServer{holder: holder}
	case claimTaken:
		// With create_before_destroy the instance is the one to be replaced.
		if !server.replayed || !c.fleet.replacing.has(server.ID) {
			return false, &foreignServer{
				key: c.keys.base, replayed: server.replayed && !c.keys.random,
				own: keyHolder{name: c.plan.Name.ValueString()}, holder: holder,
			}
		}
		server.takenOver, server.offerID, server.offer = true, "", nil
	case claimFree:
	}
	if _, existed := c.before[server.ID]; existed && !server.replayed {
		c.fleet.keys.unclaim(server.ID)
		return false, &foreignServer{holder: holder}
	}
	if !server.takenOver {
		return true, nil
	}
	server.Instance = readOmitted(ctx, c.client, server.Instance)
	if c.madeFromTwin(ctx, server.Instance) {
		server.twinTemplate = server.Template.Slug
	}
	if difference := differs(*server, c.plan); difference != "" {
		c.fleet.keys.unclaim(server.ID)
		return false, &otherServer{inst: server.Instance, key: c.keys.current(), difference: difference}
	}
	var ok bool
	server.creation, ok = c.fleet.keys.takeOver(server.ID)
	return ok, nil
}

// maxUnreadable is how many answers that no repetition is likely to improve are accepted before an outcome counts as
// unknown: successes without an id, and errors that are not the service's own.
const maxUnreadable = 3

// settle makes the request until its outcome is known. While it is not, nothing
// else may be tried, for the server may be there. With an error it returns a server only when its id is known.
func (c *creation) settle(ctx context.Context, order rental.InstanceCreate) (rental.Instance, bool, error) {
	a := &attempts{creation: c, order: order, backoff: poll.Exponential(c.interval)}
	for {
		inst, replayed, err := c.client.CreateInstance(ctx, c.keys.current(), a.order)
		if err == nil || inst.ID != "" {
			return inst, replayed, err
		}
		pause, again := a.next(err)
		if !again {
			return rental.Instance{}, false, a.outcome(err)
		}
		if poll.Pause(ctx, pause) != nil {
			return rental.Instance{}, false, a.outcome(err)
		}
		a.checkPrice(ctx)
	}
}

// attempts is what is known of the requests for one server under one key.
type attempts struct {
	*creation
	order         rental.InstanceCreate
	backoff       poll.Backoff
	made          int
	unreadable    int
	lost          error         // the last answer that was lost; nil for none
	inFlightUntil time.Time     // the work of a lost request may begin until then
	settled       bool          // the last answer says that nothing was rented
	tooDear       *tooDearError // the offer's price rose above the cap after a lost answer
}

// next says what an attempt without a server means: whether to repeat it, and after which pause.
func (a *attempts) next(err error) (pause time.Duration, again bool) {
	pause = a.backoff(a.made)
	a.made++
	var answer *rental.Error
	if errors.As(err, &answer) && answer.InFlightUntil.After(a.inFlightUntil) {
		a.inFlightUntil = answer.InFlightUntil
	}
	inFlight := time.Until(a.inFlightUntil)
	switch {
	case rental.IsUnauthorized(err), rental.IsForbidden(err):
		if rental.IsOutcomeUnknown(err) || inFlight > 0 {
			a.lost = err
		}
		return 0, false // the service returns it before it looks at the key: a repetition would not tell
	case rental.IsOutcomeUnknown(err):
		a.lost = err
		if answer.Foreign && answer.Status < 500 || answer.Status/100 == 2 {
			a.unreadable++
		}
		return pause, a.unreadable < maxUnreadable
	case settles(err) && inFlight > 0:
		// A request whose answer was lost may be carried out yet, and get what its repetition was refused.
		a.lost = err
		return inFlight, true
	case settles(err):
		a.settled = a.tooDear == nil || rental.IsNotFound(err)
		return 0, false
	}
	return pause, a.lost != nil
}

// outcome is what the attempts came to; err is of the last one.
func (a *attempts) outcome(err error) error {
	switch {
	case a.settled && a.tooDear != nil:
		return a.tooDear
	case a.lost != nil && !a.settled:
		return &unknownOutcome{key: a.keys.current(), random: a.keys.random, err: a.lost}
	}
	return err
}

// checkPrice reads the offer again before the request is repeated. When its price is above the cap by now, the
// repetition asks for no offer: it can only return the server that an earlier request has rented.
func (a *attempts) checkPrice(ctx context.Context) {
	if a.limit() == 0 || a.order.OfferID == noOffer {
		return
	}
	offerID := a.order.OfferID
	state, price, _ := a.look(ctx, offerID, a.limit()) //nolint:errcheck // then nothing is known
	if state == offerDearer {
		a.tooDear = &tooDearError{offerID, price, a.limit()}
		a.order.OfferID = noOffer
	}
}

// settles says whether a refusal means that nothing was rented: had an earlier
// request been carried out, its repetition would have returned the server.
func settles(err error) bool {
	return rental.IsNotFound(err) || rental.IsConflict(err) || rental.IsInsufficientFunds(err) || rental.IsValidation(err)
}
