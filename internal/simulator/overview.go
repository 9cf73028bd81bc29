package simulator

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator/console"
)

// consoleService implements console.Service.
type consoleService struct{ *Simulator }

func (c consoleService) Login(userCode string) (console.Login, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.catchUp()
	d, err := c.engine.pendingLogin(userCode)
	if err != nil {
		return console.Login{}, consoleError(err)
	}
	return console.Login{UserCode: d.UserCode, ClientName: d.ClientName}, nil
}

func (c consoleService) Decide(userCode string, approve bool) error {
	return consoleError(c.DecideDeviceCode(userCode, approve))
}

// consoleError converts an API error.
func consoleError(err error) error {
	if e, ok := errors.AsType[*apiError](err); ok {
		return &console.Refusal{Status: e.status, RU: e.text.ru, EN: e.text.en}
	}
	return err
}

// Overview returns the current data of the console.
func (s *Simulator) Overview() console.Overview {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	o := s.engine.consoleOverview()
	o.Faults = s.faults.active()
	o.Clock, o.TimeScale = s.config.Clock, s.config.TimeScale
	return o
}

func (e *engine) consoleOverview() console.Overview {
	b := e.viewBalance()
	o := console.Overview{
		Now: e.now, Total: len(e.active), Instances: []console.Instance{}, Ledger: []console.Entry{},
		History: e.balanceHistory(),
		Balance: console.Balance{
			BalanceKop: b.BalanceKop, AvailableKop: b.AvailableKop, CreditLimitKop: b.CreditLimitKop,
			BurnKopH: b.BurnKopH, RunwayHours: b.RunwayHours,
		},
	}
	for _, i := range slices.Backward(e.active) {
		if len(o.Instances) == console.MaxInstances {
			break
		}
		o.Instances = append(o.Instances, e.consoleInstance(i))
	}
	for _, entry := range slices.Backward(e.ledger) {
		if len(o.Ledger) == console.MaxLedger {
			break
		}
		o.Ledger = append(o.Ledger, console.Entry{
			ID: entry.ID, At: entry.At, Type: entry.Type, AmountKop: entry.AmountKop,
			Description: entry.Description, InstanceID: deref(entry.InstanceID),
		})
	}
	return o
}

func (e *engine) consoleInstance(i *instance) console.Instance {
	v := e.viewInstance(i)
	shown := console.Instance{
		ID: i.ID, Name: deref(i.Name), OfferID: i.offer.ID, Status: i.Status, Desired: i.Desired,
		StopReason: deref(i.StopReason),
		Type:       i.Rental, GPU: fmt.Sprintf("%d × %s", i.offer.GPU.Count, i.offer.model.name),
		Country:  deref(i.offer.Country),
		Template: i.template.Name, RunningKopH: i.RunningKopH, StoppedKopH: i.StoppedKopH, BurnKopH: i.Meter.Rate,
		CostSoFarKop: v.CostSoFarKop, BidKopH: i.BidKopH, URLs: []console.Link{}, Online: i.offer.Online,
		FailBoots: i.offer.FailBoots,
		CreatedAt: i.CreatedAt,
	}
	if v.SSH != nil {
		shown.SSH = v.SSH.Command
	}
	for _, u := range v.URLs {
		shown.URLs = append(shown.URLs, console.Link{Label: u.Label, URL: deref(u.URL)})
	}
	return shown
}

// balanceHistory returns the balance after each ledger entry, evenly thinned out, and the current available balance.
func (e *engine) balanceHistory() []console.Point {
	const ends = 2 // the first entry and the current balance
	every := max((len(e.ledger)+console.MaxHistory-ends-1)/(console.MaxHistory-ends), 1)
	var points []console.Point
	sum := int64(0)
	for n, entry := range e.ledger {
		sum += entry.AmountKop
		if n == 0 || n%every == 0 {
			points = append(points, console.Point{At: entry.At, BalanceKop: sum})
		}
	}
	return append(points, console.Point{At: e.now, BalanceKop: e.availableKop()})
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
