package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestRubles(t *testing.T) {
	for kopecks, want := range map[int64]string{
		0:           "0,00 ₽",
		5:           "0,05 ₽",
		-5:          "-0,05 ₽",
		99_999:      "999,99 ₽",
		100_000:     "1 000,00 ₽",
		-1_234_567:  "-12 345,67 ₽",
		100_000_000: "1 000 000,00 ₽",
	} {
		if got := rubles(kopecks); got != want {
			t.Errorf("%d kopecks: %q, want %q", kopecks, got, want)
		}
	}
}

func TestSummary(t *testing.T) {
	for name, test := range map[string]struct{ output, want string }{
		"plan": {"Plan: see below\n", "Plan: see below"},
		"no change": {
			"x: Refreshing state...\n\nNo changes. Your infrastructure matches.\n",
			"No changes. Your infrastructure matches.",
		},
		// An apply prints the summary of its plan first.
		"apply": {
			"Plan: 1 to add, 0 to change.\n\nApply complete! Resources: 1 added.\n\nOutputs:\n",
			"Apply complete! Resources: 1 added.",
		},
		"nothing": {"Error: no such file\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := summary(test.output)
			if got != test.want || (err != nil) != (test.want == "") {
				t.Errorf("summary %q and error %v, want %q", got, err, test.want)
			}
			if err != nil && !strings.Contains(err.Error(), test.output) {
				t.Errorf("the error %q does not contain the output of the CLI", err)
			}
		})
	}
}

func TestLedger_ReadsAllPages(t *testing.T) {
	pages := map[string]string{
		"":   `{"data":[{"amount_kop":-30},{"amount_kop":-20}],"next_cursor":"c1"}`,
		"c1": `{"data":[{"amount_kop":500000}],"next_cursor":null}`,
	}
	service := serve(t, func(r *http.Request) string { return pages[r.URL.Query().Get("cursor")] })
	entries, sum, err := service.ledger(t.Context())
	if err != nil || entries != 3 || sum != 499950 {
		t.Errorf("%d entries sum to %d (%v), want 3 and 499950", entries, sum, err)
	}
}

func TestLeft_ExceptCatalogAndKeyInUse(t *testing.T) {
	responses := map[string][]map[string]string{
		"/templates": {{"slug": "pytorch", "owner": "catalog"}},
		"/api-keys":  {{"id": "key_own", "prefix": "gpu_4f1a"}},
	}
	service := serve(t, func(r *http.Request) string {
		page, err := json.Marshal(map[string]any{"data": responses[r.URL.Path], "next_cursor": nil})
		if err != nil {
			t.Error(err)
		}
		return string(page)
	})
	if left, err := service.left(t.Context()); left != "" || err != nil {
		t.Errorf("left %q (%v), want nothing", left, err)
	}
	responses["/instances"] = []map[string]string{{"id": "ins_1"}}
	responses["/ssh-keys"] = []map[string]string{{"id": "ssh_1"}}
	responses["/templates"] = append(responses["/templates"], map[string]string{"slug": "mine", "owner": "me"})
	responses["/api-keys"] = append(responses["/api-keys"], map[string]string{"id": "key_2", "prefix": "gpu_77b0"})
	left, err := service.left(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"server ins_1", "SSH key ssh_1", "template mine", "API key key_2"} {
		if !strings.Contains(left, want) {
			t.Errorf("left %q, want %q in it", left, want)
		}
	}
	if strings.Contains(left, "pytorch") || strings.Contains(left, "key_own") {
		t.Errorf("left %q includes the catalog or the key in use", left)
	}
}

func serve(t *testing.T, response func(*http.Request) string) *service {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := w.Write([]byte(response(r))); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return newService(&simulator{BaseURL: server.URL, APIKey: "gpu_4f1a" + strings.Repeat("x", 36)})
}
