package fleet_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// session is a state with a fleet, which a test plans, applies and destroys through the plugin protocol. Each call has
// a new process of the provider. Messages are those of all diagnostics: severity, summary and detail.
type session struct {
	*testing.T
	env      *acctest.Env
	provider map[string]any // further arguments of the provider block
	fleet    acctest.Object
}

// newSession returns a state without a fleet.
func newSession(t *testing.T, env *acctest.Env) *session {
	t.Helper()
	s := &session{T: t, env: env, provider: map[string]any{}}
	s.fleet = s.process().None("gpurent_fleet")
	return s
}

func (s *session) process() acctest.Plugin {
	block := s.env.Arguments()
	maps.Copy(block, s.provider)
	return acctest.Configured(s.T, block)
}

type arguments = map[string]any

// train returns the arguments of a fleet; further ones replace others.
func train(size int64, further ...arguments) arguments {
	all := arguments{
		"name": "train", "size": size, "template": "pytorch", "disk_gb": int64(20),
		"offer_queries": []any{arguments{"gpu": []any{"rtx_4090"}, "num_gpus": []any{int64(1)}}},
	}
	for _, each := range further {
		maps.Copy(all, each)
	}
	return all
}

// plan refreshes the fleet, and plans to change it to a configuration.
func (s *session) plan(config arguments) (acctest.Plan, string) {
	s.Helper()
	p := s.process()
	var read []*tfprotov6.Diagnostic
	if !s.fleet.State.IsNull() {
		s.fleet, read = p.Refresh(s.fleet)
	}
	plan, diags := p.Plan(s.fleet, config)
	return plan, texts(read) + texts(diags)
}

// apply plans and applies a change in place, or a creation. It returns the messages of the plan and the apply.
func (s *session) apply(config arguments) string {
	s.Helper()
	plan, planned := s.plan(config)
	if strings.Contains(planned, "Error: ") {
		return planned
	}
	if len(plan.Replaces) > 0 {
		s.Fatalf("%v replace the fleet", plan.Replaces)
	}
	return planned + s.applyPlan(plan)
}

// applyPlan applies a plan, and checks that a successful apply leads to the planned values.
func (s *session) applyPlan(plan acctest.Plan) string {
	s.Helper()
	var diags []*tfprotov6.Diagnostic
	s.fleet, diags = s.process().Apply(plan)
	messages := texts(diags)
	if !strings.Contains(messages, "Error: ") {
		now := s.fleet.Attributes()
		for name, planned := range plan.Planned.Attributes() {
			if planned.IsFullyKnown() && !planned.Equal(now[name]) {
				s.Errorf("%s is %s, and was planned as %s", name, now[name], planned)
			}
		}
	}
	return messages
}

// destroy destroys the fleet without a refresh.
func (s *session) destroy() string {
	s.Helper()
	var diags []*tfprotov6.Diagnostic
	s.fleet, diags = s.process().Destroy(s.fleet)
	return texts(diags)
}

// importByName imports the fleet by its name.
func (s *session) importByName() {
	s.Helper()
	var diags []*tfprotov6.Diagnostic
	if s.fleet, diags = s.process().Import("gpurent_fleet", "train"); len(diags) > 0 {
		s.Error(texts(diags))
	}
}

// unchanged checks that the plan of a configuration has no changes, and returns its messages.
func (s *session) unchanged(config arguments) string {
	s.Helper()
	plan, messages := s.plan(config)
	if !plan.Planned.State.Equal(s.fleet.State) || strings.Contains(messages, "Error: ") {
		s.Errorf("the plan is %s, and the state %s: %s", plan.Planned.State, s.fleet.State, messages)
	}
	return messages
}

// members returns the ids of the members by slot; empty for an unknown outcome.
func (s *session) members() map[string]string { return s.values("id") }

// values returns an attribute of the members by slot.
func (s *session) values(name string) map[string]string {
	s.Helper()
	var slots map[string]tftypes.Value
	if err := s.fleet.Attributes()["instances"].As(&slots); err != nil {
		s.Fatal(err)
	}
	all := map[string]string{}
	for slot, member := range slots {
		var attributes map[string]tftypes.Value
		var value string
		if err := errors.Join(member.As(&attributes), attributes[name].As(&value)); err != nil {
			s.Fatal(err)
		}
		all[slot] = value
	}
	return all
}

// replaced checks that, compared with the ids before, exactly these slots have another instance.
func (s *session) replaced(before map[string]string, want ...string) {
	s.Helper()
	var slots []string
	now := s.members()
	for slot := range now {
		if before[slot] != now[slot] {
			slots = append(slots, slot)
		}
	}
	slices.Sort(slots)
	if !slices.Equal(slots, want) || len(now) < len(before) {
		s.Errorf("the slots %v have another instance, want %v: %v, before %v", slots, want, now, before)
	}
}

func texts(diags []*tfprotov6.Diagnostic) string {
	var all strings.Builder
	for _, d := range diags {
		severity := map[tfprotov6.DiagnosticSeverity]string{
			tfprotov6.DiagnosticSeverityError: "Error", tfprotov6.DiagnosticSeverityWarning: "Warning",
		}[d.Severity]
		all.WriteString(severity + ": " + d.Summary + "\n" + d.Detail + "\n")
	}
	return all.String()
}

// contains checks that messages have texts, and do not have those that begin with "!".
func contains(t *testing.T, messages string, want ...string) {
	t.Helper()
	messages = acctest.Words(acctest.WithoutFrame(messages))
	for _, text := range want {
		without, absent := strings.CutPrefix(text, "!")
		if strings.Contains(messages, without) == absent {
			t.Errorf("the messages have, or lack, %q:\n%s", text, messages)
		}
	}
}

// left checks the number of instances of the account.
func left(t *testing.T, env *acctest.Env, want int) {
	t.Helper()
	if err := env.Left("instances", want); err != nil {
		t.Error(err)
	}
}

// rent rents a member outside Terraform for each order, and returns their ids.
func rent(env *acctest.Env, orders ...string) (ids []string) {
	for slot, order := range orders {
		ids = append(ids, env.Post("instances", fmt.Sprintf(`{"offer_id":%q,"name":"train-%d",%s}`,
			env.Offers("gpu=rtx_4090&num_gpus=1")[0].ID, slot, order)))
	}
	env.Advance(time.Minute)
	return ids
}
