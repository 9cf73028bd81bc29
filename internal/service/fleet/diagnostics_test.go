package fleet

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// The result of a creation names the server of a slot, and what happened to it.
func TestAddResult(t *testing.T) {
	inst := rental.Instance{ID: "ins_7", Name: new("train-0")}
	for want, test := range map[string]struct {
		err     error
		members []fleet.Member // afterwards
	}{
		"too few ready members; slot 0 (ins_7): It was destroyed outside Terraform": {lifecycle.Missing{}, nil},
		"too many members; slot 0 (ins_7): Not destroyed, and may be billed": {
			fleet.NotDestroyed{Err: errors.New("connection reset")}, make([]fleet.Member, 2),
		},
	} {
		var diags diag.Diagnostics
		o := outcome{created: true, Spec: fleet.Spec{Name: "train", Size: 1, MinReady: 1}}
		o.Failures = []fleet.Failure{{Member: fleet.Member{Instance: inst}, Err: test.err}}
		o.Members = test.members
		new(fleetResource).addResult(t.Context(), &diags, o)
		summary, reason, _ := strings.Cut(want, "; ")
		if len(diags) != 1 || diags.ErrorsCount() != 1 || diags[0].Summary() != "Fleet train has "+summary ||
			!strings.Contains(diags[0].Detail(), reason) || strings.Contains(diags[0].Detail(), "othing was rented") {
			t.Errorf("%s: %v", want, diags)
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
