package instance_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/testhome"
)

// actionTest is a simulator and a workspace in which the CLI invokes actions.
type actionTest struct {
	*testing.T
	*acctest.Env
	workspace *acctest.Workspace
	provider  string // the provider block
}

func newActionTest(t *testing.T, options ...acctest.Option) *actionTest {
	t.Helper()
	acctest.Needs(t, "1.14.0", "")
	env := acctest.Start(t, options...)
	return &actionTest{t, env, env.Workspace("", append(testhome.Env(t.TempDir()), "GPURENT_API_KEY=")...), env.Provider()}
}

// actionBlock returns an action block with the given arguments.
func actionBlock(verb, id string, arguments ...string) string {
	return fmt.Sprintf(
		"action \"gpurent_instance_%s\" \"it\" {\n  config {\n    instance_id = %q\n    %s\n  }\n}\n",
		verb,
		id,
		strings.Join(arguments, "\n    "),
	)
}

func (s *actionTest) invoke(verb, id string, arguments ...string) (string, bool) {
	s.Helper()
	return s.workspace.Invoke(s.provider+actionBlock(verb, id, arguments...), "action.gpurent_instance_"+verb+".it")
}

// succeeds expects an action to succeed, to leave the instance in a status, and to print the texts.
func (s *actionTest) succeeds(verb, id, status string, want ...string) {
	s.Helper()
	output, ok := s.invoke(verb, id)
	if !ok {
		s.Errorf("%s fails: %s", verb, output)
	}
	s.expectResult(id, status, output, want)
}

// fails expects an action to fail, to leave the instance in a status, and to print the texts.
func (s *actionTest) fails(verb, id, argument, status string, want ...string) {
	s.Helper()
	output, ok := s.invoke(verb, id, argument)
	if ok {
		s.Errorf("%s goes well: %s", verb, output)
	}
	s.expectResult(id, status, output, want)
}

func (s *actionTest) expectResult(id, status, output string, want []string) {
	s.Helper()
	for _, want := range want {
		if !strings.Contains(output, want) {
			s.Errorf("no %q in: %s", want, output)
		}
	}
	if status == "" {
		return
	}
	if got := s.status(id); got != status {
		s.Errorf("the server is %s, want %s", got, status)
	}
}

func (s *actionTest) status(id string) string {
	return acctest.Fetch[struct{ Status string }](s.Env, "instances/"+id).Status
}

// expectRequests expects numbers of start and stop requests since the last call. With quirks, which lose responses, it
// accepts repetitions.
func (s *actionTest) expectRequests(id string, starts, stops int) {
	s.Helper()
	for verb, want := range map[string]int{"start": starts, "stop": stops} {
		got := s.CountRequests("POST", "/instances/"+id+"/"+verb)
		if got < want || got > want && (want == 0 || len(s.Quirks()) == 0) {
			s.Errorf("%d times it was asked to %s, want %d", got, verb, want)
		}
	}
	s.ClearRequests()
}

// create creates a running instance.
func (s *actionTest) create(offer, arguments string) string {
	s.Helper()
	id := s.Post("instances", fmt.Sprintf(`{"offer_id":%q,"template":"pytorch","disk_gb":60%s}`, offer, arguments))
	s.Advance(5 * time.Minute)
	return id
}

func (s *actionTest) createAny() string {
	s.Helper()
	return s.create(s.CheapestOffer("rtx_4090", "on_demand").ID, "")
}

func (s *actionTest) setStatus(id, status string) {
	s.Helper()
	if err := s.SetInstance(id, simulator.InstancePatch{Status: &status}); err != nil {
		s.Fatal(err)
	}
}

// raiseBid raises the price of an offer above its first price.
func (s *actionTest) raiseBid(offer acctest.Offer, by int64) {
	s.Helper()
	err := s.SetOffer(offer.ID, simulator.OfferPatch{InterruptibleKopH: new(*offer.Price.InterruptibleKopH + by)})
	if err != nil {
		s.Fatal(err)
	}
}

func (s *actionTest) setBalance(kop int64) {
	s.Helper()
	setAccount(s.T, s.Env, simulator.AccountPatch{BalanceKop: &kop, CreditLimitKop: new(int64(0))})
}
