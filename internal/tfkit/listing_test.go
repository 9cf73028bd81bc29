package tfkit

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	resourceschema "github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// pages is a transport whose lists have the entries of a page, without end if endless.
type pages struct {
	entries []any
	endless bool
	read    int
}

func (p *pages) RoundTrip(req *http.Request) (*http.Response, error) {
	p.read++
	page := map[string]any{"data": p.entries, "next_cursor": nil}
	if p.endless {
		page["next_cursor"] = fmt.Sprint("c", p.read)
		for i := range p.entries {
			p.entries[i] = map[string]any{"id": fmt.Sprintf("ins_%d_%d", p.read, i)}
		}
	}
	return rentaltest.JSONResponse(req, http.StatusOK, page)
}

// results returns the results of a list resource for the instances of a service.
func results(t *testing.T, service *pages, limit int64) iter.Seq[list.ListResult] {
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
		service := &pages{entries: make([]any, 200), endless: true}
		sent := 0
		for result := range results(t, service, int64(limit)) {
			sent++
			if want := (sent + 199) / 200; result.Diagnostics.HasError() || service.read != want {
				t.Fatalf("result %d: %v after %d pages, want %d", sent, result.Diagnostics, service.read, want)
			}
		}
		if sent != limit {
			t.Errorf("%d results, want %d", sent, limit)
		}
	}
}

// A list resource sends what matches, and a warning about entries that cannot be read.
func TestListResults_MatchesAndWarns(t *testing.T) {
	service := &pages{entries: []any{
		map[string]any{"id": "one"}, map[string]any{"id": "two", "status": 5}, map[string]any{"id": "other"},
	}}
	var names []string
	warnings := 0
	for result := range results(t, service, 100) {
		names = append(names, result.DisplayName)
		warnings += result.Diagnostics.WarningsCount()
	}
	if len(names) != 2 || names[0] != "one" || warnings != 1 {
		t.Errorf("results %q, %d warnings, want one and a warning", names, warnings)
	}
}
