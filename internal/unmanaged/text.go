package unmanaged

import (
	"cmp"
	"fmt"
	"math/big"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rubles"
)

// maxText limits texts of the service in tables and comments, in characters.
const maxText = 60

// printable returns a text of the service for one line of a table or a comment.
func printable(text string) string { return rental.Printable(text, maxText) }

// nameText returns the name of a server: "-" without one, "?" if the API does not return whether it has one.
func (s *Server) nameText() string {
	switch name := printable(s.NameString()); {
	case name != "":
		return name
	case s.Omitted.Name:
		return "?"
	}
	return "-"
}

// statusText returns the status: "?" for a server that cannot be decoded.
func (s *Server) statusText() string { return cmp.Or(printable(string(s.Status)), "?") }

func (s *Server) gpuText() string {
	name := cmp.Or(printable(s.GPU.Name), printable(s.GPU.Slug))
	if name == "" {
		return "?"
	}
	return fmt.Sprintf("%d × %s", s.GPU.Count, name)
}

// ageText returns the age in its two largest units.
func (s *Server) ageText() string {
	minutes := int64(s.Age / time.Minute)
	switch {
	case s.CreatedAt.IsZero():
		return "?"
	case minutes >= 24*60:
		return fmt.Sprintf("%d d %d h", minutes/(24*60), minutes/60%24)
	case minutes >= 60:
		return fmt.Sprintf("%d h %d min", minutes/60, minutes%60)
	case minutes >= 1:
		return fmt.Sprintf("%d min", minutes)
	}
	return fmt.Sprintf("%d s", s.Age/time.Second)
}

func amount(kop int64) string { return rubles.Format(big.NewInt(kop), " ") }

// count returns a number with its noun: "1 server", "2 servers".
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
