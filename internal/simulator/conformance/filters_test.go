package conformance

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// filter is a value of a query parameter of GET /offers and the condition that listed offers satisfy.
type filter struct {
	query string
	holds func(o object) bool
}

func fieldIn(path, list string) func(object) bool {
	return func(o object) bool { return slices.Contains(strings.Split(list, ","), fmt.Sprint(at(o, path))) }
}

// atLeast is a lower bound. An unknown value never satisfies it.
func atLeast(path string, bound float64) func(object) bool {
	return func(o object) bool { v, known := number(o, path); return known && v >= bound }
}

func atMost(path string, bound float64) func(object) bool {
	return func(o object) bool { v, known := number(o, path); return known && v <= bound }
}

// boundFilters returns lower bounds below, between, at and above the values of the offers.
func boundFilters(offers []object, name, path string) []filter {
	list := []filter{{name + "=0", atLeast(path, 0)}}
	var values []float64
	for _, o := range offers {
		if v, known := number(o, path); known {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	for _, n := range []int{0, len(values) / 3, len(values) / 2, len(values) - 1} {
		for _, v := range []float64{values[n], values[n] + 0.0625, values[n] - 0.0625} {
			if v < 0 || name == "min_reliability" && v > 1 {
				continue
			}
			list = append(list, filter{name + "=" + strconv.FormatFloat(v, 'f', -1, 64), atLeast(path, v)})
		}
	}
	return list
}

func allFilters(offers []object) []filter {
	list := []filter{
		{"gpu=rtx_4090", fieldIn("gpu.slug", "rtx_4090")},
		{"gpu=rtx_4090,h100_sxm", fieldIn("gpu.slug", "rtx_4090,h100_sxm")},
		{"num_gpus=1", fieldIn("gpu.count", "1")},
		{"num_gpus=2", fieldIn("gpu.count", "2")},
		{"num_gpus=4", fieldIn("gpu.count", "4")},
		{"num_gpus=8", fieldIn("gpu.count", "8")},
		{"num_gpus=2,8", fieldIn("gpu.count", "2,8")},
		{"min_gpus=1", atLeast("gpu.count", 1)},
		{"min_gpus=2", atLeast("gpu.count", 2)},
		{"min_gpus=3", atLeast("gpu.count", 3)},
		{"min_gpus=8", atLeast("gpu.count", 8)},
		{"min_gpus=1000", atLeast("gpu.count", 1000)},
		{"country=US", fieldIn("country", "US")},
		{"country=DE,NL,RU", fieldIn("country", "DE,NL,RU")},
		{"verified=true", func(o object) bool { return o["verified"] == any(true) }},
		{"gpu=rtx_4090&num_gpus=1&verified=true&min_cuda=12", func(o object) bool {
			return text(o, "gpu.slug") == "rtx_4090" && integer(o, "gpu.count") == 1 && o["verified"] == any(true) &&
				atLeast("cuda_max", 12)(o)
		}},
	}
	for _, b := range [][2]string{{"min_reliability", "reliability"}, {"min_vram_gb", "gpu.vram_gb"},
		{"min_cuda", "cuda_max"}, {"min_disk_gb", "disk.max_gb"},
		{"min_inet_down_mbps", "network.down_mbps"}} {
		list = append(list, boundFilters(offers, b[0], b[1])...)
	}
	return list
}

// All listed offers satisfy the filter, and no offer that satisfies it is missing.
func TestOffers_Filters(t *testing.T) {
	s := start(t)
	for kind, price := range map[string]string{"on_demand": "price.on_demand_kop_h",
		"interruptible": "price.interruptible_kop_h"} {
		all := s.list("/offers?type=" + kind)
		list := allFilters(all)
		for _, n := range []int{0, len(all) / 2, len(all) - 1} {
			v := integer(all[n], price)
			for _, bound := range []int64{v - 1, v, v + 1} {
				list = append(list, filter{fmt.Sprintf("max_price_kop_h=%d", bound), atMost(price, float64(bound))})
			}
		}
		list = append(list, filter{"max_price_kop_h=0", atMost(price, 0)})
		passing := map[string]int{}
		for _, f := range list {
			got := s.list("/offers?type=" + kind + "&" + f.query)
			for _, o := range got {
				check(t, f.holds(o), "%s %s: %v does not satisfy it", kind, f.query, o["id"])
			}
			var want []string
			for _, o := range all {
				if f.holds(o) {
					want = append(want, text(o, "id"))
				}
			}
			check(t, slices.Equal(ids(got), want), "%s %s: %d offers, want %d, in the order of the whole list", kind,
				f.query, len(got), len(want))
			name, _, _ := strings.Cut(f.query, "=")
			if len(want) > 0 && len(want) < len(all) {
				passing[name]++
			}
		}
		for _, name := range []string{"gpu", "num_gpus", "min_gpus", "country", "verified", "min_reliability",
			"min_vram_gb", "min_cuda", "min_disk_gb", "min_inet_down_mbps", "max_price_kop_h"} {
			check(t, passing[name] > 0, "%s: no filter matched a part of the offers", name)
		}
	}
}

// An offer without an interruptible price is not listed as interruptible.
func TestOffers_Type(t *testing.T) {
	s := start(t)
	usual, onDemand, interruptible := s.list("/offers"), s.list("/offers?type=on_demand"),
		s.list("/offers?type=interruptible")
	check(t, slices.Equal(ids(usual), ids(onDemand)), "the default type is not on_demand")
	var want []string
	for _, o := range usual {
		if at(o, "price.interruptible_kop_h") != nil {
			want = append(want, text(o, "id"))
		}
	}
	got := ids(interruptible)
	slices.Sort(got)
	slices.Sort(want)
	check(t, slices.Equal(got, want), "interruptible: %d offers, want the %d with such a price", len(got), len(want))
	check(t, len(want) < len(usual), "every offer has an interruptible price: the test proves nothing")
}

func TestQuery_Bounds(t *testing.T) {
	s := start(t)
	id := text(s.rent(nil), "id")
	for _, b := range apidoc.QueryBounds {
		path := strings.ReplaceAll(b.Path, "{id}", id) + "?" + b.Name + "="
		for _, value := range b.Valid {
			s.get(path + url.QueryEscape(value)).want(http.StatusOK)
		}
		for _, value := range b.Invalid {
			s.get(path + url.QueryEscape(value)).invalid(b.Name)
		}
		s.get(path + b.Valid[0] + "&" + b.Name + "=" + b.Valid[0]).invalid(b.Name)
	}
	s.get("/offers?gpu=rtx_4090&gpu=h200").invalid("gpu")
	s.get("/offers?no_such_parameter=x&no_such_parameter=y").want(http.StatusOK)
}

// descending returns the negative of a number.
func descending(path string) func(o object) (float64, bool) {
	return func(o object) (float64, bool) { v, known := number(o, path); return -v, known }
}

func TestOffers_Orders(t *testing.T) {
	s := start(t)
	for kind, price := range map[string]string{"on_demand": "price.on_demand_kop_h",
		"interruptible": "price.interruptible_kop_h"} {
		path := "/offers?type=" + kind
		check(t, slices.Equal(ids(s.list(path)), ids(s.list(path+"&order=price"))),
			"%s: the default order is not price", kind)
		for order, key := range map[string]func(o object) (float64, bool){
			"price":       func(o object) (float64, bool) { return number(o, price) },
			"-price":      descending(price),
			"dlperf":      descending("dlperf"),
			"reliability": descending("reliability"),
			"vram":        descending("gpu.vram_gb"),
			"inet_down":   descending("network.down_mbps"),
			"dlperf_per_price": func(o object) (float64, bool) {
				v, known := number(o, "dlperf")
				p, _ := number(o, price)
				return -v / p, known
			},
		} {
			list := s.list(path + "&order=" + order)
			equal(t, kind+" by "+order+": offers", len(list), len(s.list(path)))
			for n := 1; n < len(list); n++ {
				before, knownBefore := key(list[n-1])
				after, known := key(list[n])
				check(t, !known || knownBefore && before <= after, "%s by %s: %v (%v) is before %v (%v)", kind,
					order, list[n-1]["id"], before, list[n]["id"], after)
			}
		}
	}
}
