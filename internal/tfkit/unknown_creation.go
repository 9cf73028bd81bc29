package tfkit

import (
	"iter"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// AfterUnknownCreation returns the next step after a creation without an idempotency key whose outcome is unknown, and
// nothing after any other error. Only its own response proves which object a request created: an equal object in a list
// can be the one of another run. So the provider neither takes nor deletes one, and the message names the candidates.
//
// mayBe returns the id of an object that can be the result, and nothing for others. resolve is what to do with it.
func AfterUnknownCreation[T any](
	err error, list iter.Seq2[T, error], mayBe func(T) string, resolve func(string) Text,
) Text {
	if !rental.IsOutcomeUnknown(err) {
		return ""
	}
	var candidates []string
	for object, err := range list {
		if err != nil {
			return checkFirst + Textf(" The list that would show it cannot be read: %s", err)
		}
		if id := mayBe(object); id != "" {
			candidates = append(candidates, id)
		}
	}
	if len(candidates) == 0 {
		return "The request may or may not have been carried out. No list contains the result yet. Apply again; if two " +
			"exist later, delete the one that no state has."
	}
	return Textf("The request may or may not have been carried out. This can be its result, or belong to another run: "+
		"%s. %s", candidates, resolve(candidates[len(candidates)-1]))
}

// ImportCreated is what to do with an object that may be the result of a creation.
func ImportCreated(resourceType, id string) Text {
	block, ok := ImportBlock(resourceType, id)
	if !ok {
		return "Delete it if nobody uses it, then apply again."
	}
	return "To use it, add this block, then apply again. To get a new one, only apply again.\n\n" + block
}
