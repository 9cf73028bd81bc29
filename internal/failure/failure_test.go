package failure

import (
	"errors"
	"fmt"
	"testing"
)

// A kind is found in a wrapped error.
func TestError(t *testing.T) {
	for _, kind := range []Kind{Interrupted, AboveLimit} {
		err := &Error{Kind: kind, Limit: MaxBurn, PriceKopH: 7, LimitKopH: 5, Last: errors.New("last")}
		wrapped := fmt.Errorf("wrapped: %w", err)
		if KindOf(wrapped) != kind || Exceeds(wrapped, MaxBurn) != (kind == AboveLimit) {
			t.Errorf("%v has the kind %q", wrapped, KindOf(wrapped))
		}
	}
	if KindOf(nil) != "" || KindOf(errors.New("x")) != "" || Exceeds(&Error{Kind: AboveLimit}, MaxBurn) {
		t.Error("another error has a kind")
	}
}
