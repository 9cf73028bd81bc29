package market

import (
	"net/http"
	"os"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// recordPath records which functions led to the request that rents an instance.
type recordPath struct {
	*rentaltest.Market
	functions []string
}

func (r *recordPath) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodPost {
		counters := make([]uintptr, 100)
		frames := runtime.CallersFrames(counters[:runtime.Callers(0, counters)])
		for frame, more := frames.Next(); more; frame, more = frames.Next() {
			r.functions = append(r.functions, path.Base(frame.Function))
		}
	}
	return r.Market.RoundTrip(req)
}

// From Create to Client.CreateInstance are five functions: Create itself and the four that this test finds. The diagram
// in internal/README.md has the same ones.
func TestSearch_PathToTheRequest(t *testing.T) {
	api := &recordPath{Market: rentaltest.NewMarket(map[string]int64{"off_1": 100})}
	inMarket(t, api, func(t *testing.T, m *Market) {
		if _, err := m.Search(Demand{OfferID: "off_1", Count: 1}).Rent(t.Context(), order("")); err != nil {
			t.Fatal(err)
		}
	})
	var found []string
	closure := regexp.MustCompile(`\.func\d+(\.\d+)*$`)
	end := slices.Index(api.functions, "rental.(*Client).CreateInstance")
	for _, name := range api.functions[end+1:] {
		if closure.MatchString(name) && strings.Contains(name, "Test") {
			break
		}
		if !closure.MatchString(name) {
			found = append(found, strings.NewReplacer("(*", "", ")", "").Replace(name))
		}
	}
	want := []string{
		"lifecycle.creation.request", "spending.Account.Spend", "lifecycle.Manager.Rent", "market.Search.Rent",
	}
	if !slices.Equal(found, want) {
		t.Errorf("the functions are %v, want %v", found, want)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range want {
		_, method, _ := strings.Cut(name, ".")
		if !strings.Contains(string(readme), method) {
			t.Errorf("internal/README.md has no %s", method)
		}
	}
}
