package failure

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Each kind has its own text. A kind is found in a wrapped error.
func TestError(t *testing.T) {
	texts := map[string]Kind{}
	for kind := Interrupted; kind <= AccountUnreadable; kind++ {
		err := &Error{Kind: kind, Limit: MaxBurn, PriceKopH: 7, LimitKopH: 5, Last: errors.New("last")}
		text, _, _ := strings.Cut(err.Error(), ":")
		if other, used := texts[text]; used || text == "" {
			t.Errorf("the kinds %d and %d have the text %q", other, kind, text)
		}
		texts[text] = kind
		wrapped := fmt.Errorf("wrapped: %w", err)
		if KindOf(wrapped) != kind || Exceeds(wrapped, MaxPrice, MaxBurn) != (kind == AboveLimit) {
			t.Errorf("%v has the kind %d", wrapped, KindOf(wrapped))
		}
	}
	if KindOf(nil) != 0 || KindOf(errors.New("x")) != 0 || Exceeds(&Error{Kind: AboveLimit}, MaxTotal) {
		t.Error("another error has a kind")
	}
}
