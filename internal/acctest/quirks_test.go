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
