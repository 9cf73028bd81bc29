package unmanaged

import (
	"encoding/json"
	"math/big"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rubles"
)

// formatVersion is the version of Document. A change that breaks its readers increases the first number.
const formatVersion = "1.0"

// Document is a report as JSON. Later versions can add properties. Amounts are kopecks.
type Document struct {
	FormatVersion  string           `json:"format_version"`
	BaseURL        string           `json:"base_url"`        // of the API
	States         int              `json:"states"`          // states that were given
	ManagedServers int              `json:"managed_servers"` // billed servers of the account that a state contains
	BurnKopH       *big.Int         `json:"burn_kop_h"`      // sum of the servers, per hour
	MonthlyKop     *big.Int         `json:"monthly_kop"`     // the same for 730 hours
	Servers        []DocumentServer `json:"servers"`         // the most expensive first, then the oldest; [] for none
}

// DocumentServer is a server that no state contains. A property that the API does not return is null.
type DocumentServer struct {
	ID           string      `json:"id"`
	Name         *string     `json:"name"`
	Status       string      `json:"status"` // of the API; later versions of the API can add values
	Type         string      `json:"type"`   // "on_demand" or "interruptible"
	GPU          DocumentGPU `json:"gpu"`
	BurnKopH     int64       `json:"burn_kop_h"`      // price per hour in this status; 0 for "failed"
	RunningKopH  int64       `json:"running_kop_h"`   // price per hour while it runs
	StoppedKopH  int64       `json:"stopped_kop_h"`   // price per hour while it is stopped or outbid, for its disk
	CostSoFarKop *int64      `json:"cost_so_far_kop"` // charged since its creation
	CreatedAt    *time.Time  `json:"created_at"`      // RFC 3339, UTC
	AgeSeconds   *int64      `json:"age_seconds"`     // since its creation, by the clock of the API
}

// DocumentGPU are the GPUs of a server.
type DocumentGPU struct {
	Slug  string `json:"slug"`
	Name  string `json:"name"`
	Count int64  `json:"count"` // GPUs in the server
}

// JSON returns the report as a Document.
func (r Report) JSON() (string, error) {
	document := Document{
		FormatVersion: formatVersion, BaseURL: r.BaseURL, States: r.States.Count, ManagedServers: r.Managed,
		BurnKopH: r.BurnKopH(), MonthlyKop: rubles.Monthly(r.BurnKopH()), Servers: []DocumentServer{},
	}
	for _, s := range r.Servers {
		document.Servers = append(document.Servers, s.document())
	}
	text, err := json.MarshalIndent(document, "", "  ")
	return string(text) + "\n", err
}

func (s *Server) document() DocumentServer {
	d := DocumentServer{
		ID: s.ID, Name: s.Name, Status: string(s.Status), Type: string(s.Type),
		GPU:      DocumentGPU{s.GPU.Slug, s.GPU.Name, s.GPU.Count},
		BurnKopH: s.BurnKopH(), RunningKopH: s.Price.RunningKopH, StoppedKopH: s.Price.StoppedKopH,
	}
	if !s.Omitted.CostSoFar {
		d.CostSoFarKop = &s.CostSoFarKop
	}
	if !s.CreatedAt.IsZero() {
		created, age := s.CreatedAt.UTC(), int64(s.Age/time.Second)
		d.CreatedAt, d.AgeSeconds = &created, &age
	}
	return d
}
