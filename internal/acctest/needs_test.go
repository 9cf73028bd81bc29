package acctest

import "testing"

func TestOwnShare_WithoutOverlap(t *testing.T) {
	defer func(before bool) { *whole = before }(*whole)
	*whole = true
	for n := range 10 {
		runs := 0
		for _, variable := range []string{"1/2", "2/2"} {
			t.Setenv("GPURENT_TEST_SHARE", variable)
			if OwnShare(n) {
				runs++
			}
		}
		if runs != 1 {
			t.Errorf("case %d runs with %d of two CLIs, want 1", n, runs)
		}
	}
}

func TestFirstCLIOnly(t *testing.T) {
	for variable, want := range map[string]bool{"": false, "1/2": false, "2/2": true} {
		t.Setenv("GPURENT_TEST_SHARE", variable)
		var skipped bool
		t.Run(variable, func(t *testing.T) {
			defer func() { skipped = t.Skipped() }()
			FirstCLIOnly(t)
		})
		if skipped != want {
			t.Errorf("share %q: skipped %t, want %t", variable, skipped, want)
		}
	}
}
