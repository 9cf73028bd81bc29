// Package unmanaged finds the billed servers of an account that no Terraform state contains, and prints them. It only
// sends GET requests.
package unmanaged

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Report is the result of Find.
type Report struct {
	BaseURL string
	States  States
	Managed int       // billed servers of the account that a state contains
	Servers []*Server // the other ones: the most expensive first, then the oldest
	Foreign []string  // ids in the list that the API does not find: they belong to other accounts
}

// Server is a billed server that no state contains.
type Server struct {
	rental.Instance
	Age time.Duration // zero if CreatedAt is
}

// Empty reports whether every billed server of the account is in a state.
func (r Report) Empty() bool { return len(r.Servers) == 0 }

// BurnKopH is what the servers cost in their present statuses, in kopecks per hour.
func (r Report) BurnKopH() *big.Int {
	sum := new(big.Int)
	for _, s := range r.Servers {
		sum.Add(sum, big.NewInt(s.BurnKopH()))
	}
	return sum
}

// maxReads is the maximum number of servers that Find reads one by one: a minute of the rate limit of the API.
const maxReads = 100

// Find lists the servers of the account that the states lack. Every status counts as billed, unknown ones too, unless
// the server is destroyed or about to be. Scope: instances:read.
//
// A list can omit fields, be late, and contain servers of other accounts. So Find reads the servers that it returns
// again: the first maxReads, and those with an omitted name. A server that the API does not find belongs to another
// account. Of a server that cannot be decoded, the report contains only the id.
func Find(ctx context.Context, client *rental.Client, states States) (Report, error) {
	report := Report{BaseURL: client.BaseURL(), States: states}
	listed, err := list(ctx, client)
	if err != nil {
		return report, err
	}
	listed = slices.DeleteFunc(listed, func(s *Server) bool {
		managed := states.IDs[s.ID]
		if managed && !s.Destroyed() {
			report.Managed++
		}
		return managed || s.Destroyed()
	})
	sortByPrice(listed)
	for i, s := range listed {
		if i < maxReads || s.Omitted.Name {
			if found := s.readAgain(ctx, client); !found {
				report.Foreign = append(report.Foreign, s.ID)
				continue
			}
		}
		if s.Destroyed() {
			continue
		}
		if !s.CreatedAt.IsZero() {
			s.Age = max(0, client.Now().Sub(s.CreatedAt))
		}
		report.Servers = append(report.Servers, s)
	}
	sortByPrice(report.Servers)
	return report, ctx.Err()
}

// sortByPrice sorts the most expensive servers first, then the oldest.
func sortByPrice(servers []*Server) {
	slices.SortFunc(servers, func(a, b *Server) int {
		return cmp.Or(cmp.Compare(b.BurnKopH(), a.BurnKopH()), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
}

// list returns each active server of the account once. A server that cannot be decoded has only its id.
func list(ctx context.Context, client *rental.Client) (listed []*Server, err error) {
	var skipped []rental.Skipped
	query := rental.ListInstancesQuery{ListOptions: rental.ListOptions{Skipped: &skipped}}
	seen := map[string]bool{}
	for inst, err := range client.ListInstances(ctx, query) {
		if err != nil {
			return nil, err
		}
		if !seen[inst.ID] {
			seen[inst.ID] = true
			listed = append(listed, &Server{Instance: inst})
		}
	}
	for _, entry := range skipped {
		if entry.ID == "" {
			return nil, fmt.Errorf("the list contains a server without an id: %w", entry.Err)
		}
		omitted := rental.InstanceOmitted{Name: true, CostSoFar: true}
		listed = append(listed, &Server{Instance: rental.Instance{ID: entry.ID, Omitted: omitted}})
	}
	return listed, nil
}

// readAgain replaces the server by what the API returns for its id, and keeps the fields that the response omits. It
// changes nothing if the server cannot be read, and returns false if it belongs to another account.
func (s *Server) readAgain(ctx context.Context, client *rental.Client) (found bool) {
	now, err := client.GetInstance(ctx, s.ID)
	switch {
	case rental.IsNotFound(err):
		return client.LagLeft(s.CreatedAt, rental.NewInstanceLag) > 0
	case err != nil:
		return true
	}
	now.FillOmitted(s.Instance)
	s.Instance = client.ReadOmitted(ctx, now)
	return true
}
