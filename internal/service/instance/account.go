package instance

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// account is the money of the account, and what its active servers burn.
type account struct {
	rental.Balance
	listed map[string]int64 // by server, kopecks per hour; nil without max_burn_kop_h
}

// money returns the account as it was at the beginning of a single run, so that servers that the run starts are not
// counted twice, and as it is now in other processes.
func (f *fleet) money(ctx context.Context, meta *tfkit.Meta) (account, error) {
	return f.account.Get(ctx, meta.MaxAge(math.MaxInt64), func(ctx context.Context) (account, error) {
		balance, err := meta.Client.GetBalance(ctx)
		if err != nil || meta.Spending.MaxBurnKopH == 0 {
			return account{Balance: balance}, err
		}
		active, err := f.instances(ctx, meta)
		if err != nil {
			return account{}, err
		}
		money := account{balance, map[string]int64{}}
		for id, inst := range active {
			money.listed[id] = kopHNow(inst)
		}
		return money, nil
	})
}

// burnRate is what the account burns without the servers that this process has destroyed, kopecks per hour. The burn
// rate of the service may leave out servers that do not run yet, and may still contain destroyed ones.
func (f *fleet) burnRate(meta *tfkit.Meta, money account) int64 {
	listed := int64(0)
	for id, kopH := range money.listed {
		if !f.destroyed.has(id) {
			listed += kopH
		}
	}
	return max(listed, money.BurnKopH-f.destroyed.burned(meta))
}

// burnBefore returns what a server that is about to be destroyed burns, kopecks per hour. In a single run it reads the
// account before the first destruction: a later answer may or may not contain the destroyed servers.
func (f *fleet) burnBefore(ctx context.Context, meta *tfkit.Meta, state model) int64 {
	switch {
	case meta.Spending.MaxBurnKopH == 0:
		return 0
	case !meta.Run.Single():
		return burnOf(state)
	}
	money, err := f.money(ctx, meta)
	if err != nil {
		return 0 // a creation in this run fails for the same reason; a destruction need not
	}
	return money.listed[state.ID.ValueString()]
}

// destroyedServers are the servers that this process has destroyed. Its zero value is empty.
type destroyedServers struct {
	mu  sync.Mutex
	all map[string]destroyedServer
}

type destroyedServer struct {
	kopH int64 // what it burned before
	at   time.Time
}

// burnLag is how long the burn rate of the service may still contain a server that is destroyed.
const burnLag = 5 * time.Minute

func (d *destroyedServers) add(id string, kopH int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all == nil {
		d.all = map[string]destroyedServer{}
	}
	d.all[id] = destroyedServer{kopH, time.Now()}
}

func (d *destroyedServers) has(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, found := d.all[id]
	return found
}

// burned is what the servers burned that a balance may contain: all of them in a single run, which read the balance
// before it destroyed them.
func (d *destroyedServers) burned(meta *tfkit.Meta) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	total := int64(0)
	for _, server := range d.all {
		if meta.Run.Single() || time.Since(server.at) < burnLag {
			total += server.kopH
		}
	}
	return total
}
