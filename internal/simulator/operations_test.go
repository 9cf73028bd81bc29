package simulator_test

import (
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/contracttest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func TestOperations_MatchContract(t *testing.T) {
	served := map[string]simulator.Operation{}
	for _, op := range simulator.Operations() {
		if served[op.ID].ID != "" {
			t.Errorf("%s is served twice", op.ID)
		}
		served[op.ID] = op
	}
	for _, op := range contracttest.Operations() {
		want := simulator.Operation{ID: op.ID, Method: op.Method, Path: op.Path}
		if op.Scope != "public" && op.Scope != "optional" {
			want.Scope = op.Scope
		}
		if got := served[op.ID]; got != want {
			t.Errorf("%s is served as %+v, want %+v", op.ID, got, want)
		}
		delete(served, op.ID)
	}
	for id := range served {
		t.Errorf("%s is served, but is not in the contract", id)
	}
}
