package cli

import "testing"

func TestDidYouMean(t *testing.T) {
	for word, want := range map[string]string{
		"unmanged": "unmanaged", "Cost": "cost", "gpu": "gpus", "sim": "simulator", "vresion": "version",
		"lgoin": "login", "apply": "", "x": "", "": "", "log": "login",
	} {
		if want != "" {
			want = ": did you mean " + want + "?"
		}
		if got := didYouMean(word, commandNames()); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
