package simulator

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator/console"
)

// consoleService is the simulator as its console sees it.
type consoleService struct{ s *Simulator }

func (c consoleService) Overview() console.Overview { return c.s.Overview() }

func (c consoleService) Login(userCode string) (console.Login, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.catchUp()
	d, err := c.s.world.openLogin(userCode)
	if err != nil {
		return console.Login{}, refusal(err)
	}
	return console.Login{UserCode: d.UserCode, ClientName: d.ClientName}, nil
}

func (c consoleService) Decide(userCode string, approve bool) error {
	return refusal(c.s.DecideDeviceCode(userCode, approve))
}

// refusal is an error of the API as the console tells it.
func refusal(err error) error {
	if e, ok := errors.AsType[*apiError](err); ok {
		return &console.Refusal{Status: e.status, RU: e.text.ru, EN: e.text.en}
	}
	return err
}

// Overview returns what the console shows, as of now.
func (s *Simulator) Overview() console.Overview {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	o := s.world.overview()
	o.Faults = s.faults.inForce()
	o.Clock, o.TimeScale = s.config.Clock, s.config.TimeScale
	o.Budgets = s.budgets()
	return o
}

func (w *world) overview() console.Overview {
	b := w.viewBalance()
	o := console.Overview{
		Now: w.at, Total: len(w.active), Instances: []console.Instance{}, Ledger: []console.Entry{}, History: w.balanceHistory(),
		Balance: console.Balance{
			BalanceKop: b.BalanceKop, AvailableKop: b.AvailableKop, CreditLimitKop: b.CreditLimitKop,
			BurnKopH: b.BurnKopH, RunwayHours: b.RunwayHours,
		},
	}
	for _, i := range slices.Backward(w.active) {
		if len(o.Instances) == console.MaxInstances {
			break
		}
		o.Instances = append(o.Instances, w.showInstance(i))
	}
	for _, e := range slices.Backward(w.ledger) {
		if len(o.Ledger) == console.MaxLedger {
			break
		}
		o.Ledger = append(o.Ledger, console.Entry{
			ID: e.ID, At: e.At, Type: e.Kind, AmountKop: e.AmountKop, Description: e.Description, InstanceID: deref(e.InstanceID),
		})
	}
	return o
}

func (w *world) showInstance(i *instance) console.Instance {
	v := w.viewInstance(i)
	shown := console.Instance{
		ID: i.ID, Name: deref(i.Name), OfferID: i.offer.id, Status: i.Status, Desired: i.Desired, StopReason: deref(i.StopReason),
		Type: i.Rental, GPU: fmt.Sprintf("%d × %s", i.offer.count, i.offer.model.name), Country: deref(i.offer.country),
		Template: i.template.Name, RunningKopH: i.RunningKopH, StoppedKopH: i.StoppedKopH, BurnKopH: i.Meter.Rate,
		CostSoFarKop: v.CostSoFarKop, BidKopH: i.BidKopH, URLs: []console.Link{}, Online: i.offer.Online, FailBoots: i.offer.FailBoots,
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

// balanceHistory is the balance after each ledger entry, thinned out evenly, and what is available now.
func (w *world) balanceHistory() []console.Point {
	const ends = 2 // the first entry and now are always there
	every := max((len(w.ledger)+console.MaxHistory-ends-1)/(console.MaxHistory-ends), 1)
	var points []console.Point
	sum := int64(0)
	for n, e := range w.ledger {
		sum += e.AmountKop
		if n == 0 || n%every == 0 {
			points = append(points, console.Point{At: e.At, BalanceKop: sum})
		}
	}
	return append(points, console.Point{At: w.at, BalanceKop: w.availableKop()})
}

// budgets tells what the callers of the last minute have left: keys first, then addresses.
func (s *Simulator) budgets() []console.Budget {
	budgets := []console.Budget{}
	for caller, q := range s.limiter.peek(s.world.at) {
		kind, name, _ := strings.Cut(caller, " ")
		b := console.Budget{Caller: name, Limit: q.limit, Remaining: q.remaining, ResetSeconds: s.wholeSeconds(q.reset)}
		for _, k := range s.world.keys {
			if kind == callerKey && k.ID == name {
				b.Caller, b.Keyed = k.Name, true
			}
		}
		budgets = append(budgets, b)
	}
	slices.SortFunc(budgets, func(a, b console.Budget) int {
		if a.Keyed != b.Keyed {
			if a.Keyed {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Caller, b.Caller)
	})
	return budgets
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
