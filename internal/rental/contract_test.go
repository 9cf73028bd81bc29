package rental

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract"
)

// documented are the contract's operations by their ids.
func documented() map[string]contract.Operation {
	all := map[string]contract.Operation{}
	for _, op := range contract.Operations() {
		all[op.ID] = op
	}
	return all
}

func TestEveryOperationOfTheContractIsTested(t *testing.T) {
	missing := documented()
	for _, op := range operations(t) {
		if _, ok := missing[op.id]; !ok {
			t.Errorf("%s is tested twice, or the contract does not have it", op.id)
		}
		delete(missing, op.id)
	}
	for id := range missing {
		t.Errorf("%s has no row in operations()", id)
	}
}

// Who is refused is told the scope that the contract names for the operation.
func TestErrorsTellTheScope(t *testing.T) {
	all := documented()
	for _, op := range operations(t) {
		want := all[op.id].Scope
		if want == "public" || want == "optional" {
			want = ""
		}
		client, _ := scriptedClient(t, reply{status: http.StatusForbidden, body: errorJSON(CodeForbidden)})
		if _, err := op.do(t.Context(), client); asError(t, err).Scope != want {
			t.Errorf("%s: the error tells the scope %q, the contract %q", op.id, asError(t, err).Scope, want)
		}
		client, _ = scriptedClient(t, reply{status: http.StatusOK, header: "Content-Type: text/html", body: "no JSON"})
		if _, err := op.do(t.Context(), client); err != nil && asError(t, err).Scope != want {
			t.Errorf("%s: the error about the answer tells the scope %q, the contract %q", op.id, asError(t, err).Scope, want)
		}
	}
}

// What the service makes has an id to be managed by, and an answer without one is an error. An entry of a list without an id is left out.
func TestNothingIsNameless(t *testing.T) {
	onlyShown := map[string]bool{"listTransactions": true, "listGpus": true}
	for _, op := range operations(t) {
		answer := "{}"
		switch {
		case strings.HasPrefix(op.id, "list"):
			answer = onePage("{}")
		case op.status != http.StatusCreated:
			continue
		}
		if onlyShown[op.id] {
			continue
		}
		client, _ := scriptedClient(t, reply{status: op.status, body: answer})
		skipped := 0
		ctx := WithSkipped(t.Context(), func(Skipped) { skipped++ })
		if got, err := op.do(ctx, client); err == nil && skipped == 0 {
			t.Errorf("%s takes %s for %+v", op.id, answer, got)
		}
	}
}
