package tfkit

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	resourceschema "github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// results returns the results of a list resource for the instances of a service.
func results(t *testing.T, service rentaltest.Response, limit int64) iter.Seq[list.ListResult] {
	t.Helper()
	client := rentaltest.Client(t, service)
	listing := ListResults[rental.Instance, struct{}]{
		Kind: "instances",
		List: func(ctx context.Context, options rental.ListOptions) iter.Seq2[rental.Instance, error] {
			return client.ListInstances(ctx, rental.ListInstancesQuery{ListOptions: options})
		},
		Matches: func(inst rental.Instance) bool { return inst.ID != "other" },
		Display: func(inst rental.Instance) (id, name string) { return inst.ID, inst.ID },
	}
	identity := identityschema.Schema{
		Attributes: map[string]identityschema.Attribute{"id": identityschema.StringAttribute{RequiredForImport: true}},
	}
	req := list.ListRequest{Limit: limit, ResourceSchema: resourceschema.Schema{}, ResourceIdentitySchema: identity}
	var stream list.ListResultsStream
	listing.Stream(t.Context(), &Meta{Client: client}, req, &stream)
	return stream.Results
}

// A list resource reads a page only when it has sent the results of the ones before, and has no limit but that of the
// request.
func TestListResults_StreamsUpToLimit(t *testing.T) {
	for _, limit := range []int{3, 200, 201, 21_000} {
		pages, sent := 0, 0
		endless := func(req *http.Request) (*http.Response, error) {
			pages++
			page := make([]any, 200)
			for i := range page {
				page[i] = map[string]any{"id": fmt.Sprintf("ins_%d_%d", pages, i)}
			}
			body := map[string]any{"data": page, "next_cursor": fmt.Sprint("c", pages)}
			return rentaltest.JSONResponse(req, http.StatusOK, body)
		}
		for result := range results(t, endless, int64(limit)) {
			sent++
			if want := (sent + 199) / 200; result.Diagnostics.HasError() || pages != want {
				t.Fatalf("result %d: %v after %d pages, want %d", sent, result.Diagnostics, pages, want)
			}
		}
		if sent != limit {
			t.Errorf("%d results, want %d", sent, limit)
		}
	}
}

// A list resource sends what matches, and a warning about entries that cannot be read.
func TestListResults_MatchesAndWarns(t *testing.T) {
	type entry = map[string]any
	page := rentaltest.Page(entry{"id": "one"}, entry{"id": "two", "status": 5}, entry{"id": "other"})
	var names []string
	warnings := 0
	for result := range results(t, rentaltest.Respond(http.StatusOK, page), 100) {
		names = append(names, result.DisplayName)
		warnings += result.Diagnostics.WarningsCount()
	}
	if len(names) != 2 || names[0] != "one" || warnings != 1 {
		t.Errorf("results %q, %d warnings, want one and a warning", names, warnings)
	}
}

// An error of the API is the last result.
func TestListResults_Error(t *testing.T) {
	all := slices.Collect(results(t, rentaltest.Fail(http.StatusForbidden), 10))
	if len(all) != 1 || !all[0].Diagnostics.HasError() {
		t.Errorf("%d results: %v", len(all), all)
	}
}
