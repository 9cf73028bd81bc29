package rental

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// contractOperations returns the operations of the contract by id.
func contractOperations() map[string]apidoc.Operation {
	all := map[string]apidoc.Operation{}
	for _, op := range apidoc.Operations {
		all[op.ID] = op
	}
	return all
}

func TestOperations_Complete(t *testing.T) {
	missing := contractOperations()
	for _, op := range operations(t) {
		if _, ok := missing[op.id]; !ok {
			t.Errorf("%s is twice in operations(), or not in the contract", op.id)
		}
		delete(missing, op.id)
	}
	for id := range missing {
		t.Errorf("%s is not in operations()", id)
	}
}

// Errors contain the scope of the operation in the contract.
func TestError_Scope(t *testing.T) {
	all := contractOperations()
	for _, op := range operations(t) {
		want := all[op.id].Scope
		if want == "public" || want == "optional" {
			want = ""
		}
		client, _ := scriptedClient(t, reply{status: http.StatusForbidden, body: errorJSON(CodeForbidden)})
		if _, err := op.do(t.Context(), client); asError(t, err).Scope != want {
			t.Errorf("%s: scope %q in the error, %q in the contract", op.id, asError(t, err).Scope, want)
		}
		client, _ = scriptedClient(t, reply{status: http.StatusOK, header: "Content-Type: text/html", body: "no JSON"})
		if _, err := op.do(t.Context(), client); err != nil && asError(t, err).Scope != want {
			t.Errorf("%s: scope %q in the error of an invalid response, %q in the contract", op.id, asError(t, err).Scope, want)
		}
	}
}

// A created object without an id is an error, and an entry of a list without an id is skipped.
func TestResponse_WithoutID(t *testing.T) {
	withoutID := map[string]bool{"listTransactions": true, "listGpus": true}
	for _, op := range operations(t) {
		body := "{}"
		switch {
		case strings.HasPrefix(op.id, "list"):
			body = onePage("{}")
		case op.status != http.StatusCreated:
			continue
		}
		if withoutID[op.id] {
			continue
		}
		client, _ := scriptedClient(t, reply{status: op.status, body: body})
		got, err := op.do(t.Context(), client)
		if list := reflect.ValueOf(got); err == nil && (list.Kind() != reflect.Slice || list.Len() > 0) {
			t.Errorf("%s decodes %s as %+v", op.id, body, got)
		}
	}
}
