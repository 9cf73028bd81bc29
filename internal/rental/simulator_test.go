package rental_test

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
	"github.com/gpurent/terraform-provider-gpurent/internal/contract/contracttest"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// Client, simulator and contract are independent implementations of the API document. This test performs every
// operation of the client on the simulator, and validates the traffic with the contract. What the operations do is
// tested in package simulator.
func TestSimulator_EveryOperation(t *testing.T) {
	checker := contracttest.New(t)
	server, err := simulator.Start(t.Context(), simulator.Config{
		Clock: simulator.ClockManual, Step: 3 * time.Second, Market: simulator.MarketStill, Wrap: checker.Wrap,
	})
	must(t, err)
	t.Cleanup(func() { must(t, server.Close()) })
	client, err := rental.New(rental.Config{BaseURL: server.BaseURL, APIKey: server.APIKey})
	must(t, err)
	t.Cleanup(client.CloseIdleConnections)
	ctx := t.Context()

	_, err = client.GetMe(ctx)
	must(t, err)
	_, err = client.GetBalance(ctx)
	must(t, err)
	count(t, client.ListTransactions(ctx, rental.ListOptions{}), 1)
	count(t, client.ListGPUs(ctx, rental.ListOptions{}), 10)
	count(t, client.ListOffers(ctx, rental.OfferQuery{}), 60)
	created, err := client.CreateTemplate(ctx, rental.TemplateCreate{
		Name: "Mine", Image: "ubuntu:24.04", Description: "d", LaunchMode: rental.LaunchJupyter, Ports: []int64{8888, 6006},
		Env: map[string]string{"A": "1"}, OnStart: "true", MinDiskGB: 20, RecommendedDiskGB: 30,
	})
	must(t, err)
	count(t, client.ListTemplates(ctx, rental.ListOptions{}), 3)
	must(t, client.DeleteTemplate(ctx, created.Slug))
	sshKey, err := client.CreateSSHKey(ctx, rental.SSHKeyCreate{Name: "laptop", PublicKey: rentaltest.PublicKey})
	must(t, err)
	count(t, client.ListSSHKeys(ctx, rental.ListOptions{}), 1)
	must(t, client.DeleteSSHKey(ctx, sshKey.ID))
	apiKey, err := client.CreateAPIKey(ctx, rental.APIKeyCreate{
		Name: "ci", Scopes: []string{rental.ScopeUserRead}, ExpiresInDays: new(int64(3)),
	})
	must(t, err)
	count(t, client.ListAPIKeys(ctx, rental.ListOptions{}), 2)
	must(t, client.DeleteAPIKey(ctx, apiKey.ID))
	rentOne(ctx, t, client)
	login(ctx, t, client, server)

	seen := checker.Seen()
	for _, operation := range apidoc.Operations {
		if seen[operation.ID] == 0 {
			t.Errorf("operation %s was not called", operation.ID)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// count reads a list, which has at least this many entries.
func count[T any](t *testing.T, list iter.Seq2[T, error], least int) []T {
	t.Helper()
	var items []T
	for item, err := range list {
		must(t, err)
		items = append(items, item)
	}
	if len(items) < least {
		t.Fatalf("%d entries, want at least %d", len(items), least)
	}
	return items
}

// rentOne rents an instance once, and performs every operation with it.
func rentOne(ctx context.Context, t *testing.T, client *rental.Client) {
	t.Helper()
	query := rental.OfferQuery{GPU: []string{"rtx_4090"}, NumGPUs: []int64{1}, MaxPriceKopH: new(int64(100_000))}
	offer, err := client.GetOffer(ctx, count(t, client.ListOffers(ctx, query), 1)[0].ID)
	must(t, err)
	order := rental.InstanceCreate{OfferID: offer.ID, Template: "pytorch", DiskGB: 60, Name: "one", SSHKeyIDs: []string{}}
	created, replay, err := client.CreateInstance(ctx, "once", order)
	if err != nil || replay != rental.NotReplayed {
		t.Fatalf("created: replay %d, %v", replay, err)
	}
	again, replay, err := client.CreateInstance(ctx, "once", order)
	if err != nil || replay != rental.Replayed || again.ID != created.ID {
		t.Errorf("repeated: %s after %s, replay %d, %v", again.ID, created.ID, replay, err)
	}
	waitFor := func(status rental.InstanceStatus) { // every request advances the clock of the simulator
		t.Helper()
		for range 50 {
			inst, err := client.GetInstance(ctx, created.ID)
			must(t, err)
			if inst.Status == status {
				return
			}
		}
		t.Fatalf("the instance does not become %s", status)
	}
	waitFor(rental.StatusRunning)
	_, err = client.GetInstanceLogs(ctx, created.ID, 2)
	must(t, err)
	_, err = client.UpdateInstance(ctx, created.ID, rental.InstanceUpdate{})
	must(t, err)
	_, err = client.StopInstance(ctx, created.ID)
	must(t, err)
	waitFor(rental.StatusStopped)
	_, err = client.StartInstance(ctx, created.ID)
	must(t, err)
	waitFor(rental.StatusRunning)
	_, err = client.DeleteInstance(ctx, created.ID)
	must(t, err)
	waitFor(rental.StatusDestroyed)
	count(t, client.ListInstances(ctx, rental.ListInstancesQuery{Status: rental.ListAll}), 1)
}

func login(ctx context.Context, t *testing.T, client *rental.Client, server *simulator.Server) {
	t.Helper()
	code, err := client.CreateDeviceCode(ctx, "test")
	must(t, err)
	server.Advance(time.Minute)
	if _, err := client.CreateDeviceToken(ctx, code.DeviceCode); !rental.HasCode(err, rental.CodeAuthorizationPending) {
		t.Errorf("before the approval: %v", err)
	}
	must(t, server.DecideDeviceCode(code.UserCode, true))
	server.Advance(time.Minute)
	_, err = client.CreateDeviceToken(ctx, code.DeviceCode)
	must(t, err)
	server.Advance(time.Minute)
	if _, err := client.CreateDeviceToken(ctx, code.DeviceCode); !rental.HasCode(err, rental.CodeExpiredToken) {
		t.Errorf("used twice: %v", err)
	}
}
