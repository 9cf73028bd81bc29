package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

type service = rentaltest.Service

var (
	is, replies       = rentaltest.Is, rentaltest.Replies
	starts, stops     = rentaltest.Starts, rentaltest.Stops
	outbidAfter       = rentaltest.OutbidAfter
	within, errorName = rentaltest.Within, rentaltest.ErrorName
)

// withAccount runs a test in a synctest bubble, with an account without an instance.
func withAccount(t *testing.T, test func(t *testing.T, s *service, m *Manager)) {
	t.Helper()
	rentaltest.Run(t, rentaltest.NewAccount(), func(t *testing.T, s *service, client *rental.Client) {
		test(t, s, newManager(client))
	})
}

// withInstance is withAccount with an instance: "stopped", or "outbid/running" with its desired state.
func withInstance(t *testing.T, kind rental.RentalType, state string, test func(*testing.T, *service, *Manager)) {
	t.Helper()
	status, desired, _ := strings.Cut(state, "/")
	made := rentaltest.New(kind, rental.InstanceStatus(status), rental.DesiredState(cmp.Or(desired, status)))
	rentaltest.Run(t, made, func(t *testing.T, s *service, client *rental.Client) { test(t, s, newManager(client)) })
}

// subtestAccount runs a subtest withAccount.
func subtestAccount(t *testing.T, name string, test func(t *testing.T, s *service, m *Manager)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { withAccount(t, test) })
}

// subtestInstance runs a subtest withInstance.
func subtestInstance(
	t *testing.T, name string, kind rental.RentalType, state string, test func(*testing.T, *service, *Manager),
) {
	t.Helper()
	t.Run(name, func(t *testing.T) { withInstance(t, kind, state, test) })
}

func newManager(client *rental.Client) *Manager {
	templates := func(context.Context, string) (rental.Template, bool, error) {
		return rental.Template{Slug: "pytorch", LaunchMode: rental.LaunchSSH}, true, nil
	}
	return New(Config{
		Client: client, Template: templates, PollInterval: 5 * time.Second, Owners: new(Owners),
		Account: spending.NewAccount(spending.Limits{}, client),
	})
}

// limitBurn sets a burn limit; 0 for none.
func (m *Manager) limitBurn(kopH int64) {
	m.Account = spending.NewAccount(spending.Limits{MaxBurnKopH: kopH}, m.Client)
}

// spend spends money on another instance.
func (m *Manager) spend(ctx context.Context, kopH int64) error {
	return m.Account.Spend(ctx, "", kopH, func(context.Context) (string, error) { return "", nil })
}

// reasonOf is the errorName of the reason why an instance must not run.
func reasonOf(err error) string { return errorName(errors.Unwrap(err)) }

func running(onOutbid OutbidPolicy) Target {
	return Target{State: rental.DesiredRunning, OnOutbid: onOutbid}
}

// newOrder returns an order for an instance that another run may have rented at any time.
func newOrder(seed KeySeed) Order {
	return Order{
		Request: rental.InstanceCreate{Template: "ubuntu", DiskGB: 60, Type: rental.OnDemand},
		Object:  Object{Token: "self"}, Seed: seed, RecoverWithin: 1000 * time.Hour,
	}
}

// anOffer is an offer of rentaltest.Service.
var anOffer = Candidate{KopH: rentaltest.OfferKopH, Offer: rental.Offer{
	ID: "off_1", Available: true, GPU: rental.OfferGPU{Slug: "a", Count: 1, VRAMGB: 8},
	Price: rental.OfferPrice{OnDemandKopH: rentaltest.OfferKopH},
}}

// ordered returns an instance as newOrder describes it.
func ordered(age time.Duration) rental.Instance {
	return rental.Instance{
		ID: rentaltest.ID, Status: rental.StatusRunning, Type: rental.OnDemand, DiskGB: 60,
		CreatedAt: time.Now().Add(-age), Template: rental.TemplateRef{Slug: "ubuntu"},
		SSH: &rental.SSH{Host: "203.0.113.1", Port: 22},
	}
}
