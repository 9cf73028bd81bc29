package rental_test

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract"
	"github.com/gpurent/terraform-provider-gpurent/internal/contract/contracttest"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKJLu/BJj6IuH3Ssli37zXUHMHdBfD153tGyfACAryQ8 me@laptop"

// The client and the simulator are independent readings of the API document,
// and the contract is a third. Here the first two meet, the third watching, in
// every one of the operations.
func TestEveryOperationAgainstTheSimulator(t *testing.T) {
	checker := contracttest.New(t)
	server, err := simulator.Start(t.Context(), simulator.Config{Clock: simulator.ClockManual, Step: 3 * time.Second, Market: simulator.MarketStill, Wrap: checker.Wrap})
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

	a := &agreement{t: t, ctx: t.Context(), client: client, server: server}
	a.account()
	offer := a.catalog()
	a.templates()
	a.keys()
	a.instances(offer)
	a.login()

	seen := checker.Seen()
	for _, operation := range contract.Operations() {
		if seen[operation.ID] == 0 {
			t.Errorf("operation %s was not called", operation.ID)
		}
		if !hasMethod(operation.ID) {
			t.Errorf("operation %s has no method of the client", operation.ID)
		}
	}
}

// hasMethod finds an operation's method, whatever the case of its initialisms.
func hasMethod(operation string) bool {
	methods := reflect.TypeFor[*rental.Client]()
	for i := range methods.NumMethod() {
		if strings.EqualFold(methods.Method(i).Name, operation) {
			return true
		}
	}
	return false
}

type agreement struct {
	t      *testing.T
	ctx    context.Context
	client *rental.Client
	server *simulator.Server
}

func must[T any](a *agreement) func(T, error) T {
	return func(value T, err error) T {
		a.t.Helper()
		if err != nil {
			a.t.Fatal(err)
		}
		return value
	}
}

func all[T any](a *agreement, list iter.Seq2[T, error]) []T {
	a.t.Helper()
	var items []T
	for item, err := range list {
		if err != nil {
			a.t.Fatal(err)
		}
		items = append(items, item)
	}
	return items
}

func (a *agreement) account() {
	if user := must[rental.User](a)(a.client.GetMe(a.ctx)); user.ID == "" || user.CreatedAt.IsZero() {
		a.t.Errorf("user %+v", user)
	}
	balance := must[rental.Balance](a)(a.client.GetBalance(a.ctx))
	var sum int64
	for _, entry := range all(a, a.client.ListTransactions(a.ctx, rental.ListOptions{PageSize: 1})) {
		sum += entry.AmountKop
	}
	if balance.Currency != "RUB" || sum != balance.BalanceKop {
		a.t.Errorf("the ledger sums to %d, the balance is %+v", sum, balance)
	}
}

func (a *agreement) catalog() rental.Offer {
	models := map[string]bool{}
	for _, m := range all(a, a.client.ListGPUs(a.ctx, rental.ListOptions{})) {
		models[m.Slug] = true
	}
	countries, offered := map[string]bool{}, map[string]bool{}
	offers := all(a, a.client.ListOffers(a.ctx, rental.OfferQuery{ListOptions: rental.ListOptions{PageSize: 7}}))
	for _, o := range offers {
		offered[o.GPU.Slug] = true
		if o.Country != nil {
			countries[*o.Country] = true
		}
		if !models[o.GPU.Slug] {
			a.t.Errorf("offer %s has the unknown model %s", o.ID, o.GPU.Slug)
		}
	}
	if len(offers) < 60 || len(offered) < 10 || len(countries) < 3 {
		a.t.Errorf("%d offers of %d models in %d countries, want at least 60, 10 and 3", len(offers), len(offered), len(countries))
	}
	limit := int64(100_000)
	cheap := all(a, a.client.ListOffers(a.ctx, rental.OfferQuery{GPU: []string{"rtx_4090"}, NumGPUs: []int64{1}, MaxPriceKopH: &limit}))
	if len(cheap) < 2 {
		a.t.Fatalf("%d offers of one RTX 4090, want at least two", len(cheap))
	}
	if again := must[rental.Offer](a)(a.client.GetOffer(a.ctx, cheap[0].ID)); !reflect.DeepEqual(again, cheap[0]) {
		a.t.Errorf("by id:  %+v\nlisted: %+v", again, cheap[0])
	}
	return cheap[0]
}

func (a *agreement) templates() {
	create := rental.TemplateCreate{
		Name: "Mine", Image: "ubuntu:24.04", Description: "d", LaunchMode: rental.LaunchJupyter, Ports: []int64{8888, 6006},
		Env: map[string]string{"A": "1"}, OnStart: "true", MinDiskGB: 20, RecommendedDiskGB: 30,
	}
	made := must[rental.Template](a)(a.client.CreateTemplate(a.ctx, create))
	if made.Owner != rental.OwnerMe || made.Name != create.Name || made.MinDiskGB != 20 || len(made.Ports) != 2 || made.Env["A"] != "1" {
		a.t.Errorf("made %+v from %+v", made, create)
	}
	listed := map[string]bool{}
	for _, template := range all(a, a.client.ListTemplates(a.ctx, rental.ListOptions{PageSize: 3})) {
		listed[template.Slug] = true
	}
	if !listed[made.Slug] || !listed["custom"] {
		a.t.Errorf("listed %v, want the own template and custom", listed)
	}
	if err := a.client.DeleteTemplate(a.ctx, made.Slug); err != nil {
		a.t.Error(err)
	}
	if err := a.client.DeleteTemplate(a.ctx, made.Slug); !rental.IsNotFound(err) {
		a.t.Errorf("deleting it twice: %v", err)
	}
}

func (a *agreement) keys() {
	key := must[rental.SSHKey](a)(a.client.CreateSSHKey(a.ctx, rental.SSHKeyCreate{Name: "laptop", PublicKey: publicKey}))
	if len(all(a, a.client.ListSSHKeys(a.ctx, rental.ListOptions{}))) != 1 || !strings.HasPrefix(key.Fingerprint, "SHA256:") {
		a.t.Errorf("SSH key %+v", key)
	}
	if err := a.client.DeleteSSHKey(a.ctx, key.ID); err != nil {
		a.t.Error(err)
	}
	days := int64(3)
	issued := must[rental.APIKeyCreated](a)(a.client.CreateAPIKey(a.ctx, rental.APIKeyCreate{Name: "ci", Scopes: []string{rental.ScopeUserRead}, ExpiresInDays: &days}))
	if issued.ExpiresAt == nil || issued.ExpiresAt.Sub(issued.CreatedAt).Round(time.Hour) != 72*time.Hour || !strings.HasPrefix(issued.Secret, issued.Prefix) {
		a.t.Errorf("API key %v of three days expires %v", issued, issued.ExpiresAt)
	}
	if n := len(all(a, a.client.ListAPIKeys(a.ctx, rental.ListOptions{}))); n != 2 {
		a.t.Errorf("%d API keys, want 2", n)
	}
	if err := a.client.DeleteAPIKey(a.ctx, issued.ID); err != nil {
		a.t.Error(err)
	}
}

func (a *agreement) instances(offer rental.Offer) {
	create := rental.InstanceCreate{OfferID: offer.ID, Template: "pytorch", DiskGB: 60, Name: "one", SSHKeyIDs: []string{}}
	made, replayed, err := a.client.CreateInstance(a.ctx, "once", create)
	if err != nil || replayed {
		a.t.Fatalf("created: replayed %t, %v", replayed, err)
	}
	again, replayed, err := a.client.CreateInstance(a.ctx, "once", create)
	if err != nil || !replayed || again.ID != made.ID {
		a.t.Errorf("repeated: %s after %s, replayed %t, %v", again.ID, made.ID, replayed, err)
	}
	running := a.until(made.ID, func(i rental.Instance) bool { return i.SSH != nil })
	if running.Status != rental.StatusRunning || running.StartedAt == nil || running.GPU.Slug != offer.GPU.Slug || len(running.URLs) == 0 {
		a.t.Errorf("running %+v", running)
	}
	if lines := must[[]string](a)(a.client.GetInstanceLogs(a.ctx, made.ID, 2)); len(lines) != 2 {
		a.t.Errorf("log %q, want its last two lines", lines)
	}
	if renamed := must[rental.Instance](a)(a.client.UpdateInstance(a.ctx, made.ID, rental.InstanceUpdate{})); renamed.Name != nil {
		a.t.Errorf("name %q, want it cleared", *renamed.Name)
	}
	must[rental.Instance](a)(a.client.StopInstance(a.ctx, made.ID))
	stopped := a.until(made.ID, func(i rental.Instance) bool { return i.Status == rental.StatusStopped })
	if stopped.SSH != nil || stopped.StopReason == nil || *stopped.StopReason != "user" {
		a.t.Errorf("stopped %+v", stopped)
	}
	must[rental.Instance](a)(a.client.StartInstance(a.ctx, made.ID))
	a.until(made.ID, func(i rental.Instance) bool { return i.Status == rental.StatusRunning })
	if ended := must[rental.Instance](a)(a.client.DeleteInstance(a.ctx, made.ID)); ended.Status != rental.StatusDestroying {
		a.t.Errorf("status %s right after the destruction", ended.Status)
	}
	a.until(made.ID, func(i rental.Instance) bool { return i.Status == rental.StatusDestroyed })
	if n := len(all(a, a.client.ListInstances(a.ctx, rental.ListInstancesQuery{}))); n != 0 {
		a.t.Errorf("%d active instances, want none", n)
	}
	if n := len(all(a, a.client.ListInstances(a.ctx, rental.ListInstancesQuery{Status: rental.ListAll}))); n != 1 {
		a.t.Errorf("%d instances in all, want the destroyed one", n)
	}
}

// until polls: every request moves the simulator's clock.
func (a *agreement) until(id string, there func(rental.Instance) bool) rental.Instance {
	a.t.Helper()
	for range 50 {
		if seen := must[rental.Instance](a)(a.client.GetInstance(a.ctx, id)); there(seen) {
			return seen
		}
	}
	a.t.Fatalf("instance %s does not get there", id)
	return rental.Instance{}
}

func (a *agreement) login() {
	code := must[rental.DeviceCode](a)(a.client.CreateDeviceCode(a.ctx, "test"))
	a.server.Advance(time.Duration(code.Interval) * time.Second)
	if _, err := a.client.CreateDeviceToken(a.ctx, code.DeviceCode); !rental.HasCode(err, rental.CodeAuthorizationPending) {
		a.t.Errorf("before the approval: %v", err)
	}
	if err := a.server.DecideDeviceCode(code.UserCode, true); err != nil {
		a.t.Fatal(err)
	}
	a.server.Advance(time.Minute)
	token := must[rental.DeviceToken](a)(a.client.CreateDeviceToken(a.ctx, code.DeviceCode))
	if token.APIKey == "" || token.KeyID == "" || token.User.Email == "" {
		a.t.Errorf("token %v for %q", token, token.User.Email)
	}
	a.server.Advance(time.Minute)
	_, err := a.client.CreateDeviceToken(a.ctx, code.DeviceCode)
	if apiErr := new(rental.Error); !errors.As(err, &apiErr) || apiErr.Code != rental.CodeExpiredToken {
		a.t.Errorf("used twice: %v", err)
	}
}
