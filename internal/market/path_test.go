package market

import (
	"net/http"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
)

// From Create to Client.CreateInstance are five functions: Create itself and the four that this test finds. The diagram
// in internal/README.md has the same ones.
func TestSearch_PathToTheRequest(t *testing.T) {
	var functions []string // that led to the request, without closures, the last one first
	record := func(*http.Request) {
		counters := make([]uintptr, 100)
		frames := runtime.CallersFrames(counters[:runtime.Callers(0, counters)])
		closure := regexp.MustCompile(`\.func\d+(\.\d+)*$`)
		for frame, more := frames.Next(); more; frame, more = frames.Next() {
			if name := path.Base(frame.Function); !closure.MatchString(name) {
				functions = append(functions, strings.NewReplacer("(*", "", ")", "").Replace(name))
			}
		}
	}
	run(t, 1, func(t *testing.T, e *env) {
		e.Proxy.Set(simtest.Creates().Do(simtest.Before(record)))
		if _, err := e.market.Search(demand(1, 0)).Rent(t.Context(), order("")); err != nil {
			t.Fatal(err)
		}
	})
	want := []string{
		"lifecycle.creation.request", "spending.Account.Spend", "lifecycle.Manager.Rent", "market.Search.Rent",
	}
	first := slices.Index(functions, "rental.Client.CreateInstance") + 1
	if found := functions[first:slices.Index(functions, "testing.tRunner")]; !slices.Equal(found, want) {
		t.Errorf("the functions are %v, want %v", found, want)
	}
}
