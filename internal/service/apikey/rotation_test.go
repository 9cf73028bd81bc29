package apikey_test

import (
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const typeName = "gpurent_api_key"

// The plan at apply decides as the first plan did, although the moment of the rotation has passed meanwhile.
func TestRotation_DueBetweenPlanAndApply(t *testing.T) {
	env := acctest.Start(t)
	id := env.Post("api-keys", `{"name":"ci","scopes":["instances:read"],"expires_in_days":30}`)
	server, schemas := acctest.ProviderServer(t)
	config := acctest.Value(schemas.Provider.ValueType(), map[string]any{"base_url": env.BaseURL, "api_key": env.APIKey})
	if _, err := server.ConfigureProvider(t.Context(),
		&tfprotov6.ConfigureProviderRequest{Config: acctest.Pack(t, config)}); err != nil {
		t.Fatal(err)
	}
	kind := schemas.ResourceSchemas[typeName].ValueType()
	scopes := []tftypes.Value{tftypes.NewValue(tftypes.String, "instances:read")}
	prior := acctest.Value(kind, map[string]any{"id": id, "name": "ci", "scopes": scopes, "expires_in_days": 30,
		"rotate_before_days": 3})
	read, err := server.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{TypeName: typeName,
		CurrentState: acctest.Pack(t, prior)})
	if err != nil || len(read.Diagnostics) > 0 {
		t.Fatal(err, read.Diagnostics)
	}
	replaced := func(rotateBefore any) bool {
		t.Helper()
		var attributes map[string]tftypes.Value
		state, err := read.NewState.Unmarshal(kind)
		if err != nil {
			t.Fatal(err)
		}
		if err := state.As(&attributes); err != nil {
			t.Fatal(err)
		}
		attributes["rotate_before_days"] = tftypes.NewValue(tftypes.Number, rotateBefore)
		plan, err := server.PlanResourceChange(t.Context(), &tfprotov6.PlanResourceChangeRequest{
			TypeName: typeName, PriorState: read.NewState, PriorPrivate: read.Private,
			ProposedNewState: acctest.Pack(t, tftypes.NewValue(kind, attributes)),
			Config: acctest.Pack(t,
				acctest.Value(kind, map[string]any{"name": "ci", "scopes": scopes, "expires_in_days": 30,
					"rotate_before_days": rotateBefore})),
		})
		if err != nil {
			t.Fatal(err)
		}
		return len(plan.RequiresReplace) > 0
	}
	if !replaced(30) || replaced(29) {
		t.Error("with 29 days and some hours left, only rotate_before_days = 30 is due")
	}
	if !replaced(tftypes.UnknownValue) {
		t.Error("an unknown rotate_before_days may be due, and is not planned so")
	}
	env.Advance(20 * 24 * time.Hour)
	if replaced(29) {
		t.Error("the plan at apply replaces the key, and the first plan did not")
	}
}
