package rental_test

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/contracttest"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKJLu/BJj6IuH3Ssli37zXUHMHdBfD153tGyfACAryQ8 me@laptop"

// Client, simulator and contract are independent implementations of the API document. This test performs every
// operation of the client on the simulator, and validates the traffic with the contract.
func TestSimulator_EveryOperation(t *testing.T) {
	checker := contracttest.New(t)
	server, err := simulator.Start(t.Context(), simulator.Config{
		Clock: simulator.ClockManual, Step: 3 * time.Second, Market: simulator.MarketStill, Wrap: checker.Wrap,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	client, err := rental.New(rental.Config{BaseURL: server.BaseURL, APIKey: server.APIKey})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)

	s := &simulatorTest{t: t, ctx: t.Context(), client: client, server: server}
	s.account()
	offer := s.catalog()
	s.templates()
	s.keys()
	s.instances(offer)
	s.login()

	seen := checker.Seen()
	for _, operation := range contracttest.Operations() {
		if seen[operation.ID] == 0 {
			t.Errorf("operation %s was not called", operation.ID)
		}
	}
}

type simulatorTest struct {
	t      *testing.T
	ctx    context.Context
	client *rental.Client
	server *simulator.Server
}

func must[T any](s *simulatorTest) func(T, error) T {
	return func(value T, err error) T {
		s.t.Helper()
		if err != nil {
			s.t.Fatal(err)
		}
		return value
	}
}

func all[T any](s *simulatorTest, list iter.Seq2[T, error]) []T {
	s.t.Helper()
	var items []T
	for item, err := range list {
		if err != nil {
			s.t.Fatal(err)
		}
		items = append(items, item)
	}
	return items
}

func (s *simulatorTest) account() {
	if user := must[rental.User](s)(s.client.GetMe(s.ctx)); user.ID == "" || user.CreatedAt.IsZero() {
		s.t.Errorf("user %+v", user)
	}
	balance := must[rental.Balance](s)(s.client.GetBalance(s.ctx))
	var sum int64
	for _, entry := range all(s, s.client.ListTransactions(s.ctx, rental.ListOptions{PageSize: 1})) {
		sum += entry.AmountKop
	}
	if balance.Currency != "RUB" || sum != balance.BalanceKop {
		s.t.Errorf("the ledger sums to %d, the balance is %+v", sum, balance)
	}
}

func (s *simulatorTest) catalog() rental.Offer {
	models := map[string]bool{}
	for _, m := range all(s, s.client.ListGPUs(s.ctx, rental.ListOptions{})) {
		models[m.Slug] = true
	}
	countries, offered := map[string]bool{}, map[string]bool{}
	offers := all(s, s.client.ListOffers(s.ctx, rental.OfferQuery{ListOptions: rental.ListOptions{PageSize: 7}}))
	for _, o := range offers {
		offered[o.GPU.Slug] = true
		if o.Country != nil {
			countries[*o.Country] = true
		}
		if !models[o.GPU.Slug] {
			s.t.Errorf("offer %s has the unknown model %s", o.ID, o.GPU.Slug)
		}
	}
	if len(offers) < 60 || len(offered) < 10 || len(countries) < 3 {
		s.t.Errorf("%d offers of %d models in %d countries, want at least 60, 10 and 3",
			len(offers), len(offered), len(countries))
	}
	limit := int64(100_000)
	query := rental.OfferQuery{GPU: []string{"rtx_4090"}, NumGPUs: []int64{1}, MaxPriceKopH: &limit}
	cheap := all(s, s.client.ListOffers(s.ctx, query))
	if len(cheap) < 2 {
		s.t.Fatalf("%d offers of one RTX 4090, want at least two", len(cheap))
	}
	if again := must[rental.Offer](s)(s.client.GetOffer(s.ctx, cheap[0].ID)); !reflect.DeepEqual(again, cheap[0]) {
		s.t.Errorf("by id:  %+v\nlisted: %+v", again, cheap[0])
	}
	return cheap[0]
}

func (s *simulatorTest) templates() {
	create := rental.TemplateCreate{
		Name: "Mine", Image: "ubuntu:24.04", Description: "d", LaunchMode: rental.LaunchJupyter, Ports: []int64{8888, 6006},
		Env: map[string]string{"A": "1"}, OnStart: "true", MinDiskGB: 20, RecommendedDiskGB: 30,
	}
	created := must[rental.Template](s)(s.client.CreateTemplate(s.ctx, create))
	if created.Owner != rental.OwnerMe || created.Name != create.Name || created.MinDiskGB != 20 ||
		len(created.Ports) != 2 || created.Env["A"] != "1" {
		s.t.Errorf("created %+v from %+v", created, create)
	}
	listed := map[string]bool{}
	for _, template := range all(s, s.client.ListTemplates(s.ctx, rental.ListOptions{PageSize: 3})) {
		listed[template.Slug] = true
	}
	if !listed[created.Slug] || !listed["custom"] {
		s.t.Errorf("listed %v, want the new template and custom", listed)
	}
	if err := s.client.DeleteTemplate(s.ctx, created.Slug); err != nil {
		s.t.Error(err)
	}
	if err := s.client.DeleteTemplate(s.ctx, created.Slug); !rental.IsNotFound(err) {
		s.t.Errorf("deleted twice: %v", err)
	}
}

func (s *simulatorTest) keys() {
	key := must[rental.SSHKey](s)(s.client.CreateSSHKey(s.ctx, rental.SSHKeyCreate{Name: "laptop", PublicKey: publicKey}))
	if len(all(s, s.client.ListSSHKeys(s.ctx, rental.ListOptions{}))) != 1 ||
		!strings.HasPrefix(key.Fingerprint, "SHA256:") {
		s.t.Errorf("SSH key %+v", key)
	}
	if err := s.client.DeleteSSHKey(s.ctx, key.ID); err != nil {
		s.t.Error(err)
	}
	days := int64(3)
	createKey := rental.APIKeyCreate{Name: "ci", Scopes: []string{rental.ScopeUserRead}, ExpiresInDays: &days}
	apiKey := must[rental.APIKeyCreated](s)(s.client.CreateAPIKey(s.ctx, createKey))
	if apiKey.ExpiresAt == nil || apiKey.ExpiresAt.Sub(apiKey.CreatedAt).Round(time.Hour) != 72*time.Hour ||
		!strings.HasPrefix(apiKey.Secret, apiKey.Prefix) {
		s.t.Errorf("API key %v of three days expires %v", apiKey, apiKey.ExpiresAt)
	}
	if n := len(all(s, s.client.ListAPIKeys(s.ctx, rental.ListOptions{}))); n != 2 {
		s.t.Errorf("%d API keys, want 2", n)
	}
	if err := s.client.DeleteAPIKey(s.ctx, apiKey.ID); err != nil {
		s.t.Error(err)
	}
}

func (s *simulatorTest) instances(offer rental.Offer) {
	create := rental.InstanceCreate{OfferID: offer.ID, Template: "pytorch", DiskGB: 60, Name: "one", SSHKeyIDs: []string{}}
	created, replay, err := s.client.CreateInstance(s.ctx, "once", create)
	if err != nil || replay != rental.NotReplayed {
		s.t.Fatalf("created: replay %d, %v", replay, err)
	}
	again, replay, err := s.client.CreateInstance(s.ctx, "once", create)
	if err != nil || replay != rental.Replayed || again.ID != created.ID {
		s.t.Errorf("repeated: %s after %s, replay %d, %v", again.ID, created.ID, replay, err)
	}
	running := s.waitFor(created.ID, func(i rental.Instance) bool { return i.SSH != nil })
	if running.Status != rental.StatusRunning || running.StartedAt == nil || running.GPU.Slug != offer.GPU.Slug ||
		len(running.URLs) == 0 {
		s.t.Errorf("running %+v", running)
	}
	if lines := must[[]string](s)(s.client.GetInstanceLogs(s.ctx, created.ID, 2)); len(lines) != 2 {
		s.t.Errorf("log %q, want its last two lines", lines)
	}
	renamed := must[rental.Instance](s)(s.client.UpdateInstance(s.ctx, created.ID, rental.InstanceUpdate{}))
	if renamed.Name != nil {
		s.t.Errorf("name %q, want none", *renamed.Name)
	}
	must[rental.Instance](s)(s.client.StopInstance(s.ctx, created.ID))
	stopped := s.waitFor(created.ID, func(i rental.Instance) bool { return i.Status == rental.StatusStopped })
	if stopped.SSH != nil || stopped.StopReason == nil || *stopped.StopReason != "user" {
		s.t.Errorf("stopped %+v", stopped)
	}
	must[rental.Instance](s)(s.client.StartInstance(s.ctx, created.ID))
	s.waitFor(created.ID, func(i rental.Instance) bool { return i.Status == rental.StatusRunning })
	deleted := must[rental.Instance](s)(s.client.DeleteInstance(s.ctx, created.ID))
	if deleted.Status != rental.StatusDestroying {
		s.t.Errorf("status %s right after the deletion", deleted.Status)
	}
	s.waitFor(created.ID, func(i rental.Instance) bool { return i.Status == rental.StatusDestroyed })
	if n := len(all(s, s.client.ListInstances(s.ctx, rental.ListInstancesQuery{}))); n != 0 {
		s.t.Errorf("%d active instances, want none", n)
	}
	if n := len(all(s, s.client.ListInstances(s.ctx, rental.ListInstancesQuery{Status: rental.ListAll}))); n != 1 {
		s.t.Errorf("%d instances in all, want the destroyed one", n)
	}
}

// waitFor polls: every request advances the clock of the simulator.
func (s *simulatorTest) waitFor(id string, done func(rental.Instance) bool) rental.Instance {
	s.t.Helper()
	for range 50 {
		if instance := must[rental.Instance](s)(s.client.GetInstance(s.ctx, id)); done(instance) {
			return instance
		}
	}
	s.t.Fatalf("instance %s does not reach the state", id)
	return rental.Instance{}
}

func (s *simulatorTest) login() {
	code := must[rental.DeviceCode](s)(s.client.CreateDeviceCode(s.ctx, "test"))
	s.server.Advance(time.Duration(code.Interval) * time.Second)
	_, err := s.client.CreateDeviceToken(s.ctx, code.DeviceCode)
	if !rental.HasCode(err, rental.CodeAuthorizationPending) {
		s.t.Errorf("before the approval: %v", err)
	}
	if err := s.server.DecideDeviceCode(code.UserCode, true); err != nil {
		s.t.Fatal(err)
	}
	s.server.Advance(time.Minute)
	token := must[rental.DeviceToken](s)(s.client.CreateDeviceToken(s.ctx, code.DeviceCode))
	if token.APIKey == "" || token.KeyID == "" || token.User.Email == "" {
		s.t.Errorf("token %v for %q", token, token.User.Email)
	}
	s.server.Advance(time.Minute)
	_, err = s.client.CreateDeviceToken(s.ctx, code.DeviceCode)
	if apiErr := new(rental.Error); !errors.As(err, &apiErr) || apiErr.Code != rental.CodeExpiredToken {
		s.t.Errorf("used twice: %v", err)
	}
}
