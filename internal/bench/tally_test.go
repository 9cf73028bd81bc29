package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func TestEndpoint(t *testing.T) {
	for _, test := range []struct{ method, path, want string }{
		{"GET", "/instances", "GET /instances"},
		{"GET", "/instances/ins_1", "GET /instances/{id}"},
		{"POST", "/instances/ins_1/start", "POST /instances/{id}/start"},
		{"DELETE", "/templates/my%2Fown", "DELETE /templates/{id}"},
		{"DELETE", "/ssh-keys/ssh_1", "DELETE /ssh-keys/{id}"},
		{"POST", "/auth/device/token", "POST /auth/device/token"},
		{"GET", "/balance", "GET /balance"},
	} {
		if got := endpoint(test.method, test.path); got != test.want {
			t.Errorf("%s %s: %q, want %q", test.method, test.path, got, test.want)
		}
	}
}

func TestCount(t *testing.T) {
	got := count([]simulator.Request{
		{Method: "GET", Path: "/instances/ins_1", Status: 429, KeyID: "key_1"},
		{Method: "GET", Path: "/instances/ins_1", Status: 200, KeyID: "key_1"},
		{Method: "GET", Path: "/instances/ins_2", Status: 404, KeyID: "key_1"},
		{Method: "GET", Path: "/offers/off_1", Status: 200},
	})
	want := Tally{
		All: 4, Keyed: 3, Public: 1, Limited: 1,
		Endpoints: map[string]int{"GET /instances/{id}": 3, "GET /offers/{id}": 1},
		served:    map[string]int{"GET /instances/{id}": 2, "GET /offers/{id}": 1},
	}
	if difference := cmp.Diff(want, got, cmp.AllowUnexported(Tally{})); difference != "" {
		t.Error(difference)
	}
	if text := got.String(); text != "3 GET /instances/{id}, 1 GET /offers/{id}" {
		t.Errorf("told as %q", text)
	}
}

func TestReferencesMustBeWhatTheyAreCalled(t *testing.T) {
	c := Cell{Work: workRefresh, Count: 2}
	served := func(n int) sample {
		return sample{requests: Tally{All: n, served: map[string]int{"GET /instances/{id}": n}}}
	}
	for _, test := range []struct {
		reads    string
		requests int
		valid    bool
	}{
		{readNothing, 0, true},
		{readNothing, 1, false},
		{readEach, 2, true},
		{readEach, 1, false},
		{readShared, 1, true},
	} {
		if err := checkReads(c, test.reads, served(test.requests)); (err == nil) != test.valid {
			t.Errorf("%s with %d requests: %v", test.reads, test.requests, err)
		}
	}
}
