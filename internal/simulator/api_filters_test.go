package simulator_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// selecting are parameters that list values of a field; lower are lower bounds of one. An unknown value never satisfies
// them.
var (
	selecting = map[string]string{"gpu": "gpu.slug", "num_gpus": "gpu.count", "country": "country",
		"verified": "verified"}
	lower = map[string]string{"min_gpus": "gpu.count", "min_reliability": "reliability", "min_vram_gb": "gpu.vram_gb",
		"min_cuda": "cuda_max", "min_disk_gb": "disk.max_gb", "min_inet_down_mbps": "network.down_mbps"}
)

// edges returns numbers below, at and above a value of a field.
func edges(all []object, path string, step float64) []float64 {
	var values []float64
	for _, o := range all {
		if v, known := o.number(path); known {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	high := values[len(values)*4/5]
	return []float64{high - step, high, high + step}
}

// Each filter lists exactly the offers that satisfy it, in the order of the whole list.
func TestOffers_Filters(t *testing.T) {
	api := newFundedClient(t)
	for _, kind := range []string{"on_demand", "interruptible"} {
		path, price := "/offers?type="+kind, "price."+kind+"_kop_h"
		all := api.list(path)
		checkFilter := func(filter string, holds func(o object) bool) {
			t.Helper()
			want := slices.DeleteFunc(slices.Clone(all), func(o object) bool { return !holds(o) })
			got := api.list(path + "&" + filter)
			check(t, slices.Equal(ids(got), ids(want)), "%s: %d offers, want %d", filter, len(got), len(want))
		}
		for name, field := range selecting {
			var values []string
			for _, o := range all {
				if v := fmt.Sprint(o.value(field)); o.value(field) != nil && v != "false" && !slices.Contains(values, v) {
					values = append(values, v)
				}
			}
			for n := range min(len(values), 2) {
				list := values[:n+1]
				checkFilter(name+"="+strings.Join(list, ","), func(o object) bool {
					return slices.Contains(list, fmt.Sprint(o.value(field)))
				})
			}
		}
		for _, bound := range edges(all, price, 1) {
			checkFilter(fmt.Sprintf("max_price_kop_h=%.0f", bound), func(o object) bool {
				v, _ := o.number(price)
				return v <= bound
			})
		}
		for name, field := range lower {
			step := 0.001
			if name == "min_gpus" {
				step = 1
			}
			for _, bound := range edges(all, field, step) {
				checkFilter(fmt.Sprintf("%s=%v", name, bound), func(o object) bool {
					v, known := o.number(field)
					return known && v >= bound
				})
			}
		}
		checkFilter("gpu=rtx_4090&num_gpus=1&verified=true", func(o object) bool {
			return o.text("gpu.slug") == "rtx_4090" && o.integer("gpu.count") == 1 && o["verified"] == any(true)
		})
	}
}

// An offer without an interruptible price is not listed as interruptible. The default type is on_demand.
func TestOffers_Type(t *testing.T) {
	api := newFundedClient(t)
	all := api.list("/offers")
	check(t, slices.Equal(ids(all), ids(api.list("/offers?type=on_demand"))), "the default type is not on_demand")
	want := slices.DeleteFunc(all, func(o object) bool { return o.value("price.interruptible_kop_h") == nil })
	got := api.list("/offers?type=interruptible")
	equal(t, "interruptible offers", asJSON(slices.Sorted(slices.Values(ids(got)))),
		asJSON(slices.Sorted(slices.Values(ids(want)))))
}

func TestQuery_Bounds(t *testing.T) {
	api := newFundedClient(t)
	id := api.createInstance(nil).text("id")
	bounds := apidoc.QueryBounds
	for _, b := range bounds {
		for _, path := range listPaths {
			if b.Name == "limit" { // the same in all lists
				b.Path = path
				bounds = append(bounds, b)
			}
		}
	}
	for _, b := range bounds {
		path := strings.ReplaceAll(b.Path, "{id}", id) + "?" + b.Name + "="
		for _, value := range b.Valid {
			api.get(path + url.QueryEscape(value)).want(http.StatusOK)
		}
		for _, value := range b.Invalid {
			api.get(path + url.QueryEscape(value)).invalid(b.Name)
		}
		api.get(path + b.Valid[0] + "&" + b.Name + "=" + b.Valid[0]).invalid(b.Name)
	}
	api.get("/offers?gpu=rtx_4090&gpu=h200").invalid("gpu")
	api.get("/offers?no_such_parameter=x&no_such_parameter=y").want(http.StatusOK)
}

// Each order sorts by a field, descending with "-". Offers without a value are at the end.
func TestOffers_Orders(t *testing.T) {
	api := newFundedClient(t)
	for _, kind := range []string{"on_demand", "interruptible"} {
		path, price := "/offers?type="+kind, "price."+kind+"_kop_h"
		check(t, slices.Equal(ids(api.list(path)), ids(api.list(path+"&order=price"))), "the default order is not price")
		for order, field := range map[string]string{
			"price": price, "-price": "-" + price, "dlperf": "-dlperf", "reliability": "-reliability",
			"vram": "-gpu.vram_gb", "inet_down": "-network.down_mbps", "dlperf_per_price": "-dlperf",
		} {
			key := func(o object) (v float64, known bool) {
				name, descending := strings.CutPrefix(field, "-")
				v, known = o.number(name)
				if p, _ := o.number(price); order == "dlperf_per_price" {
					v /= p
				}
				if descending {
					v = -v
				}
				return v, known
			}
			list := api.list(path + "&order=" + order)
			equal(t, kind+" by "+order+": offers", len(list), len(api.list(path)))
			for n := 1; n < len(list); n++ {
				before, knownBefore := key(list[n-1])
				after, known := key(list[n])
				check(t, !known || knownBefore && before <= after, "%s by %s: %v (%v) is before %v (%v)", kind,
					order, list[n-1]["id"], before, list[n]["id"], after)
			}
		}
	}
}
