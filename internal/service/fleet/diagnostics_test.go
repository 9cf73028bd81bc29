package fleet

import (
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// The result of a creation names the server or the idempotency key of a slot, and what to do.
func TestAddResult(t *testing.T) {
	refused := errors.New("connection reset")
	inst := rental.Instance{ID: "ins_7", Name: new("train-0"), Status: rental.StatusDestroyed}
	for name, test := range map[string]struct {
		err     failure.Error
		member  rental.Instance
		members []fleet.Member // afterwards
		minimum int            // min_ready
		want    []string       // the first one is the start
	}{
		"an unknown outcome": {
			err: failure.Error{Kind: failure.OutcomeUnknown, Key: "key-1", Err: refused}, minimum: 1,
			want: []string{"Error: Fleet train has too few ready members", "slot 0: ", "idempotency key key-1 is unknown",
				"unmanaged", "connection reset", "apply again to continue"},
		},
		"a server of another state": {
			err: failure.Error{Kind: failure.NotByKey, Instance: inst}, minimum: 1,
			want: []string{"Error: Fleet train cannot take existing instances", `instance ins_7 has the name "train-0"`,
				"import {", "id = \"train\"", "moved block", "create_before_destroy"},
		},
		"a server of another resource": {
			err: failure.Error{Kind: failure.InUse, Instance: inst}, minimum: 1,
			want: []string{"Error: Fleet train cannot take existing instances", "another resource of this run has instance " +
				"ins_7", "moved block", "create_before_destroy"},
		},
		"a server that was destroyed while it booted": {
			err: failure.Error{Kind: failure.Gone}, member: inst, minimum: 1,
			want: []string{"Error: Fleet train has too few ready members", "slot 0: instance ins_7 was destroyed outside " +
				"Terraform"},
		},
		"a surplus member": {
			err: failure.Error{Kind: failure.NotDestroyed, Err: refused}, member: inst, members: make([]fleet.Member, 2),
			want: []string{"Error: Fleet train has too many members", "instance ins_7 could not be destroyed and may be billed"},
		},
		"too few offers, and min_ready": {
			err: failure.Error{Kind: failure.NoOffer},
			want: []string{"Warning: Fleet train is not complete", "slot 0: no offer is left",
				"The next plan contains the rest"},
		},
	} {
		var diags diag.Diagnostics
		o := outcome{created: true, Spec: fleet.Spec{Name: "train", Size: 1, MinReady: test.minimum}}
		o.Failures = []fleet.Failure{{Member: fleet.Member{Instance: test.member}, Err: &test.err}}
		o.Members = test.members
		new(fleetResource).addResult(t.Context(), &diags, o)
		text := map[diag.Severity]string{
			diag.SeverityError: "Error: ", diag.SeverityWarning: "Warning: ",
		}[diags[0].Severity()] + diags[0].Summary() + "\n" + diags[0].Detail()
		for _, want := range test.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in %s", name, want, text)
			}
		}
		if len(diags) != 1 || !strings.HasPrefix(text, test.want[0]) || strings.Contains(text, "othing was rented") {
			t.Errorf("%s: %d diagnostics: %s", name, len(diags), text)
		}
	}
}
