package instance

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/poll"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// rented is a server that this creation stands for.
type rented struct {
	rental.Instance
	// offerID is what it was rented from; empty when an earlier run did it.
	offerID string
	// takenOver: an earlier run rented it with the same key.
	takenOver bool
	// twinTemplate is the slug of the template it was made from, where that is not
	// the configured one but has the same content; else empty.
	twinTemplate string
}

// state is what is saved at once, before anything can fail.
func (s rented) state(plan model) model {
	plan.RentedOfferID = tfkit.Text(s.offerID)
	plan.QuotedKopH = types.Int64Value(s.Price.RunningKopH)
	return plan
}

// rent spends the money: it chooses an offer and makes the one request for it.
// That request is not cut off when the run is interrupted: a request whose
// answer nobody reads would leave a server billing that no state knows.
func (r *instanceResource) rent(ctx context.Context, plan model, timeout time.Duration, diags *diag.Diagnostics) (rented, bool) {
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
	detached, stop := tfkit.Detach(ctx)
	defer stop()
	postCtx, cancel := context.WithTimeout(detached, timeout)
	defer cancel()
	c := &creation{meta: r.Meta, client: r.Meta.Client, interval: r.Meta.PollInterval, fleet: r.fleet(), keys: keys, order: order, began: r.Meta.Client.Now()}
	server, err := c.choose(ctx, postCtx, plan)
	if !r.Meta.Run.Single() {
		c.releaseOffers() // from now on the service says which offers are available
	}
	if err != nil {
		addRentError(diags, err)
		return rented{}, false
	}
	if !r.fleet().keys.claim(server.ID) {
		// Under this key an earlier creation received the same instance. With
		// create_before_destroy that is the one to be replaced.
		if !r.fleet().replacing.has(server.ID) {
			addSharedKey(diags, keys.base, holder, keyHolder{id: server.ID, name: nameOf(server.Instance)})
			return rented{}, false
		}
		server.takenOver, server.offerID = true, ""
	}
	if c.madeFromTwin(ctx, server.Instance, plan) {
		server.twinTemplate = server.Template.Slug
	}
	if difference := differs(server, plan); difference != "" {
		addStranger(diags, server.Instance, keys.current(), difference)
		return rented{}, false
	}
	return server, true
}

// madeFromTwin says whether a server was made from another template than the
// configured one, but with the same content: a run that was killed may have made
// both template and server, and this run the template once more.
func (c *creation) madeFromTwin(ctx context.Context, inst rental.Instance, plan model) bool {
	if inst.Template.Slug == "" || inst.Template.Slug == plan.Template.ValueString() {
		return false
	}
	one, found, err := tfkit.FindTemplate(ctx, c.meta, inst.Template.Slug)
	other, alsoFound, alsoErr := tfkit.FindTemplate(ctx, c.meta, plan.Template.ValueString())
	if err != nil || alsoErr != nil || !found || !alsoFound {
		return false
	}
	one.Slug, one.Name, one.Description = other.Slug, other.Name, other.Description // of no matter to a server
	return reflect.DeepEqual(one, other)
}

// creation makes the request for one server, under one series of keys.
type creation struct {
	meta     *tfkit.Meta
	client   *rental.Client
	interval time.Duration // first pause between two tries to learn an outcome
	fleet    *fleet
	keys     *keySeries
	order    rental.InstanceCreate
	began    time.Time // by the service's clock
	asked    bool      // a request to rent was made
	reserved []string  // offers that no other creation takes meanwhile
}

// reserve is false for an offer that another creation has reserved.
func (c *creation) reserve(offerID string) bool {
	if !c.fleet.offers.reserve(offerID) {
		return false
	}
	c.reserved = append(c.reserved, offerID)
	return true
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
// key whose server is destroyed is spent: the next of the series stands for the
// server that takes its place.
func (c *creation) post(ctx context.Context, offerID string) (rented, error) {
	order := c.order
	order.OfferID = offerID
	c.asked = true
	for {
		inst, replayed, err := c.settle(ctx, order)
		if err != nil {
			return rented{}, err
		}
		if !replayed || !gone(inst) {
			// The service's times are told to the second.
			earlier := replayed && inst.CreatedAt.Before(c.began.Add(-time.Second))
			server := rented{Instance: inst, offerID: offerID, takenOver: earlier}
			if earlier {
				server.offerID = ""
			}
			return server, nil
		}
		if !c.keys.next() {
			return rented{}, errKeysUsedUp
		}
	}
}

// settle makes the request until its outcome is known. While it is not, nothing
// else may be tried, for the server may be there.
func (c *creation) settle(ctx context.Context, order rental.InstanceCreate) (rental.Instance, bool, error) {
	inst, replayed, err := c.client.CreateInstance(ctx, c.keys.current(), order)
	var doubt *unknownOutcome
	backoff := poll.Exponential(c.interval)
	overdue, confirmed := false, false
	for attempt := 0; ctx.Err() == nil; attempt++ {
		pause := backoff(attempt)
		overdue = overdue || rental.IsOverdue(err)
		switch {
		case err == nil:
			return inst, replayed, nil
		case rental.IsOutcomeUnknown(err):
			doubt = &unknownOutcome{key: c.keys.current(), random: c.keys.random, err: err}
		case settles(err) && overdue && !confirmed:
			// A request that was given up may still be under way, and get what its
			// repetition was refused. It is given its time once more.
			pause, confirmed = c.client.RequestTimeout(), true
		case doubt == nil, settles(err):
			return inst, replayed, err
		case rental.IsUnauthorized(err), rental.IsForbidden(err):
			return inst, replayed, doubt // no repetition is going to tell
		}
		if poll.Pause(ctx, pause) == nil {
			inst, replayed, err = c.client.CreateInstance(ctx, c.keys.current(), order)
		}
	}
	if doubt != nil && !settles(err) {
		return inst, replayed, doubt
	}
	return inst, replayed, err
}

// settles says whether a refusal tells that nothing was rented: had the earlier
// request been carried out, its repetition would have been told the server.
func settles(err error) bool {
	return rental.IsNotFound(err) || rental.IsConflict(err) || rental.IsInsufficientFunds(err) || rental.IsValidation(err)
}

// differs says in what a server is not what the plan wants; empty when it is.
func differs(inst rented, plan model) string {
	unlike := func(name string, has, wants any) string {
		return fmt.Sprintf("%s is %v, and the configuration says %v", name, has, wants)
	}
	switch {
	case inst.Template.Slug != "" && inst.Template.Slug != plan.Template.ValueString() && inst.twinTemplate == "":
		return unlike("template", inst.Template.Slug, plan.Template.ValueString())
	case inst.DiskGB != 0 && inst.DiskGB != plan.DiskGB.ValueInt64():
		return unlike("disk_gb", inst.DiskGB, plan.DiskGB.ValueInt64())
	case string(inst.Type) != plan.Type.ValueString():
		return unlike("type", inst.Type, plan.Type.ValueString())
	case inst.Image != "" && !plan.Image.IsUnknown() && inst.Image != plan.Image.ValueString():
		return unlike("image", inst.Image, plan.Image.ValueString())
	}
	return ""
}
