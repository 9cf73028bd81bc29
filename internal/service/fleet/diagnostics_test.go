package fleet

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// The result of a creation names the server or the idempotency key of a slot, and what to do.
func TestAddResult(t *testing.T) {
	refused := errors.New("connection reset")
	inst := rental.Instance{ID: "ins_7", Name: new("train-0"), CreatedAt: time.Now().Add(-2 * time.Hour)}
	for name, test := range map[string]struct {
		err     error
		member  rental.Instance
		members []fleet.Member // afterwards
		minimum int            // min_ready
		want    []string       // the first one is the start
	}{
		"an unknown outcome": {
			err: lifecycle.OutcomeUnknown{Key: "key-1", Err: refused}, minimum: 1,
			want: []string{"Error: Fleet train has too few ready members", "slot 0: ", "under the idempotency key key-1",
				"next apply or destroy", "connection reset", "apply again to continue"},
		},
		"a server of another state": {
			err: lifecycle.NotRecent{Instance: inst, RecoverWithin: time.Hour}, minimum: 1,
			want: []string{"Error: Fleet train cannot take existing instances", "Instance ins_7 (", "created at 2",
				"another idempotency_prefix", "import {", "id = \"train\""},
		},
		"a server that was destroyed while it booted": {
			err: lifecycle.Missing{}, member: inst, minimum: 1,
			want: []string{"Error: Fleet train has too few ready members", "slot 0 (ins_7): It was destroyed outside Terraform"},
		},
		"a surplus member": {
			err: fleet.NotDestroyed{Err: refused}, member: inst, members: make([]fleet.Member, 2),
			want: []string{"Error: Fleet train has too many members", "slot 0 (ins_7): Not destroyed, and may be billed"},
		},
		"too few offers, and min_ready": {
			err: market.NoOffer{},
			want: []string{"Warning: Fleet train is not complete", "slot 0: Offers needed: 0. Matching the query: 0. Usable: 0.",
				"The next apply continues"},
		},
	} {
		var diags diag.Diagnostics
		o := outcome{created: true, Spec: fleet.Spec{Name: "train", Size: 1, MinReady: test.minimum}}
		o.Failures = []fleet.Failure{{Member: fleet.Member{Instance: test.member}, Err: test.err}}
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

// Equal reasons are one line. The message contains the price of the members.
func TestAddResult_GroupsSlots(t *testing.T) {
	o := outcome{created: true, Spec: fleet.Spec{Name: "train", Size: 30, MinReady: 30}}
	o.Target.State = rental.DesiredRunning
	for slot := range 8 {
		o.Members = append(o.Members, fleet.Member{Slot: slot, Instance: rental.Instance{
			ID: fmt.Sprintf("ins_%d", slot), Status: rental.StatusRunning, Price: rental.InstancePrice{RunningKopH: 15425}}})
	}
	for slot := 8; slot < 30; slot++ {
		var err error = market.NoOffer{}
		member := fleet.Member{Slot: slot}
		if slot == 9 || slot == 12 {
			member.Instance.ID = fmt.Sprintf("ins_%d", slot)
			err = fleet.NotDestroyed{Err: errors.New("no")}
		}
		o.Failures = append(o.Failures, fleet.Failure{Slot: slot, Member: member, Err: err})
	}
	var diags diag.Diagnostics
	new(fleetResource).addResult(t.Context(), &diags, o)
	all := "slots 8, 10, 11, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29"
	want := `8 of 30 members are ready, and the fleet costs 1,234.00_₽ per hour (900,820.00_₽ per month):
  ` + all + `: Offers needed: 0. Matching the query: 0. Usable: 0.
  slots 9 (ins_9), 12 (ins_12): Not destroyed, and may be billed: no

min_ready is 30. The fleet is tainted, so the next apply destroys its members: `
	if detail := strings.ReplaceAll(diags[0].Detail(), "\u00a0", "_"); !strings.HasPrefix(detail, want) {
		t.Errorf("got\n%s\nwant\n%s", detail, want)
	}
}
