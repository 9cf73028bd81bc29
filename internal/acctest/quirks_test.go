package acctest

import (
	"slices"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/quirks"
)

func TestQuirks_RunAndTest(t *testing.T) {
	previous := *quirksFlag
	t.Cleanup(func() { *quirksFlag = previous })
	for _, c := range []struct {
		run     string
		options []Option
		want    []string
	}{
		{"", nil, nil},
		{"small-pages,other-gpu", nil, []string{"other-gpu", "small-pages"}},
		{"small-pages,other-gpu", []Option{WithoutQuirks("other-gpu")}, []string{"small-pages"}},
		{"all", []Option{WithoutQuirks(quirks.Names()[1:]...)}, quirks.Names()[:1]},
		{"", []Option{WithQuirks("small-pages")}, []string{"small-pages"}},
		{"refused-disks,small-pages", nil, []string{"small-pages"}},
		{"refused-disks,small-pages", []Option{ChoosesOffers()}, []string{"refused-disks", "small-pages"}},
		{"", []Option{ChoosesOffers()}, nil},
	} {
		*quirksFlag = c.run
		if on := Start(t, c.options...).Quirks(); !slices.Equal(on, c.want) {
			t.Errorf("-acctest.quirks=%s and %d options: %v, want %v", c.run, len(c.options), on, c.want)
		}
	}
}

// Helpers of Env bypass the quirks.
func TestEnv_HelpersIgnoreQuirks(t *testing.T) {
	env := Start(t, WithQuirks("all"))
	if left := Fetch[page[struct{ ID string }]](env, "instances").Data; len(left) > 0 {
		t.Errorf("instances: %v", left)
	}
	if n := len(env.Offers("limit=50")); n < 10 {
		t.Errorf("a page has %d offers", n)
	}
	Fetch[struct{}](env, "balance")
}
