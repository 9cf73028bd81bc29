package tfkit

import (
	"context"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// AfterUnknownCreation returns the next step after a creation without an idempotency key whose outcome is unknown, and
// nothing after any other error. Only its own response proves which object a request created: an equal object in a list
// can be the one of another run. So the provider neither takes nor deletes one, and the message names the candidates.
//
// mayBe reports whether an object can be the result. resolve returns what to do with the candidates.
func AfterUnknownCreation[T any](
	ctx context.Context, err error, objects *rental.Collection[T], mayBe func(T) bool, resolve func(ids []string) Text,
) Text {
	if !rental.IsOutcomeUnknown(err) {
		return ""
	}
	ctx, stop := rental.Detached(ctx) // even after an interruption
	defer stop()
	candidates, err := objects.OfOthers(ctx, mayBe)
	switch {
	case err != nil:
		return checkFirst + Textf(" The list that would show it cannot be read: %s", err)
	case len(candidates) == 0:
		return maybeCarriedOut + " No list contains the result yet. Apply again; if two exist later, delete the one that " +
			"no state has."
	}
	return Textf(maybeCarriedOut+" This can be its result, or belong to another run: %s. %s", candidates,
		resolve(candidates))
}

// ImportOrDelete returns what to do with the objects of a resource type that may be the result of a creation.
func ImportOrDelete(resourceType string) func(ids []string) Text {
	return func(ids []string) Text {
		block, ok := ImportBlock(resourceType, ids[0])
		if !ok || len(ids) > 1 {
			return "Import the one that nobody else uses, or delete it, then apply again."
		}
		return "If nobody else uses it, add this block or delete it, then apply again.\n\n" + block
	}
}
