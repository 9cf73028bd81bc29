package tfkit

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	resourceschema "github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// crowd is an account with many servers, as a transport that makes each page on request.
type crowd struct {
	servers  int
	pageSize int
	padding  string // after each server of a list
	short    bool   // servers have an id only, which is quicker
	lists    atomic.Int64
	singles  atomic.Int64
}

func crowdID(i int) string { return fmt.Sprintf("inst_%06d", i) }

// server is as long as a server of the API document is.
func (c *crowd) server(i int) string {
	if c.short {
		return fmt.Sprintf(`{"id":%q}`, crowdID(i))
	}
	return fmt.Sprintf(`{"id":%q,"name":"worker-%d","status":"running","desired_state":"running","type":"on_demand",`+
		`"gpu":{"slug":"rtx-4090","name":"NVIDIA GeForce RTX 4090","count":1,"vram_gb":24},"template":{"slug":"pytorch","name":"PyTorch"},`+
		`"image":"pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime","disk_gb":50,"country":"RU",`+
		`"price":{"running_kop_h":9000,"stopped_kop_h":120,"traffic_kop_gb":100},"cost_so_far_kop":123456,`+
		`"ssh":{"host":"gpu.rent.example","port":42022,"user":"root","command":"ssh -p 42022 root@gpu.rent.example"},`+
		`"urls":[{"label":"Jupyter","url":"https://gpu.rent.example:48888/?token=0123456789abcdef"}],`+
		`"created_at":"2026-01-02T03:04:05Z","started_at":"2026-01-02T03:05:05Z","stop_reason":null}`, crowdID(i), i)
}

func (c *crowd) RoundTrip(req *http.Request) (*http.Response, error) {
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(strings.NewReader(c.answer(req))), Request: req}, nil
}

func (c *crowd) answer(req *http.Request) string {
	if id, single := strings.CutPrefix(req.URL.Path, "/api/v1/instances/inst_"); single {
		c.singles.Add(1)
		number, err := strconv.Atoi(id)
		if err != nil {
			panic(err)
		}
		return c.server(number)
	}
	c.lists.Add(1)
	begin, _ := strconv.Atoi(req.URL.Query().Get("cursor")) //nolint:errcheck // the first page has none
	end := min(begin+c.pageSize, c.servers)
	var body strings.Builder
	for i := begin; i < end; i++ {
		body.WriteString(map[bool]string{true: `{"data":[`, false: ","}[i == begin] + c.server(i) + c.padding)
	}
	if end == c.servers {
		return body.String() + `],"next_cursor":null}`
	}
	return body.String() + fmt.Sprintf(`],"next_cursor":"%d"}`, end)
}

// client reads the crowd. It panics on an error, because errTooLong needs it outside a test.
func (c *crowd) client() *rental.Client {
	client, err := rental.New(rental.Config{BaseURL: "https://rent.example/api/v1", APIKey: "test" + strings.Repeat("0", 40), Transport: c})
	if err != nil {
		panic(err)
	}
	return client
}

// source reads the crowd as resources do; writes counts the writes of the process.
func (c *crowd) source(writes *atomic.Uint64) Source[rental.Instance] {
	client := c.client()
	return Source[rental.Instance]{
		MaxAge: ListingMaxAge,
		ID:     func(inst rental.Instance) string { return inst.ID },
		All: func(ctx context.Context, options rental.ListOptions) iter.Seq2[rental.Instance, error] {
			return client.ListInstances(ctx, rental.ListInstancesQuery{ListOptions: options})
		},
		One:    client.GetInstance,
		Writes: writes.Load,
	}
}

// errTooLong is a real error of a list that is too long.
var errTooLong = func() error {
	service := &crowd{servers: 2, pageSize: 1}
	list := service.client().ListInstances(context.Background(), rental.ListInstancesQuery{ListOptions: rental.ListOptions{MaxPages: 1}})
	_, _, err := Find(list, func(rental.Instance) bool { return false })
	return err
}()

// heap is how many bytes are in use.
func heap() int64 {
	runtime.GC()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	return int64(now.HeapAlloc)
}

// A state of three servers pays neither memory nor requests for an account of 500,000, nor for a service whose pages are small or huge.
func TestSnapshotOfFewServersInALargeAccount(t *testing.T) {
	for name, test := range map[string]struct {
		service *crowd
		lists   int64
		most    int64 // MiB
	}{
		"many servers": {&crowd{servers: 500_000, pageSize: 200}, FirstReach, 8},
		"small pages":  {&crowd{servers: 500_000, pageSize: 1}, FirstReach, 8},
		"large pages":  {&crowd{servers: 500_000, pageSize: 1, padding: strings.Repeat(" ", 4<<20)}, 8, 8},
	} {
		t.Run(name, func(t *testing.T) {
			var writes atomic.Uint64
			var s Snapshot[rental.Instance]
			source, before := test.service.source(&writes), heap()
			for _, i := range []int{250_000, 3, 499_999} {
				inst, found, err := s.Find(t.Context(), source, crowdID(i))
				if err != nil || !found || inst.ID != crowdID(i) {
					t.Errorf("server %d: %t, %v, %q", i, found, err, inst.ID)
				}
			}
			held := heap() - before
			t.Logf("%d pages and %d servers were read, %d KiB are held", test.service.lists.Load(), test.service.singles.Load(), held>>10)
			if test.service.lists.Load() != test.lists || test.service.singles.Load() > 3 || held > test.most<<20 {
				t.Errorf("%d pages, %d servers, %d KiB", test.service.lists.Load(), test.service.singles.Load(), held>>10)
			}
			runtime.KeepAlive(&s)
		})
	}
}

// Who needs all servers gets an error from an account that is too large, and the first servers with it. It is asked once, and
// reads of single servers do not suffer.
func TestSnapshotOfAllServersOfALargeAccount(t *testing.T) {
	service := &crowd{servers: 500_000, pageSize: 200}
	var writes atomic.Uint64
	var s Snapshot[rental.Instance]
	source, before := service.source(&writes), heap()
	for range 3 {
		all, err := s.All(t.Context(), source)
		if !rental.IsListTooLong(err) || len(all) != 20_000 || all[crowdID(7)].ID != crowdID(7) {
			t.Errorf("%d servers, %v", len(all), err)
		}
	}
	if some, err := s.List(t.Context(), source); !rental.IsListTooLong(err) || some != nil {
		t.Errorf("a part of %d servers passes for the list: %v", len(some), err)
	}
	held := heap() - before
	t.Logf("%d pages, %d MiB are held", service.lists.Load(), held>>20)
	if service.lists.Load() != 101 || held > 48<<20 {
		t.Errorf("%d pages, %d MiB, want 101 and at most 48", service.lists.Load(), held>>20)
	}
	for _, i := range []int{7, 250_000} {
		if inst, found, err := s.Find(t.Context(), source, crowdID(i)); err != nil || !found || inst.ID != crowdID(i) {
			t.Errorf("server %d: %t, %v", i, found, err)
		}
	}
	if service.lists.Load() != 101 || service.singles.Load() != 1 {
		t.Errorf("%d pages and %d servers, want 101 and one", service.lists.Load(), service.singles.Load())
	}
	runtime.KeepAlive(&s)
}

// A listing for single reads is not taken for the list of all.
func TestSnapshotReadsOnForAll(t *testing.T) {
	service := &crowd{servers: 3000, pageSize: 200, short: true}
	var writes atomic.Uint64
	var s Snapshot[rental.Instance]
	source := service.source(&writes)
	for i := range 2 {
		if _, found, err := s.Find(t.Context(), source, crowdID(i)); err != nil || !found {
			t.Errorf("%t, %v", found, err)
		}
	}
	if all, err := s.All(t.Context(), source); err != nil || len(all) != 3000 {
		t.Errorf("%d servers, %v", len(all), err)
	}
	if service.lists.Load() != FirstReach+15 {
		t.Errorf("%d pages", service.lists.Load())
	}
}

// The reach of listings for single reads grows with what they miss, and not beyond what is worth it.
func TestSnapshotReachIsBounded(t *testing.T) {
	service := &crowd{servers: 500_000, pageSize: 1, short: true}
	var writes atomic.Uint64
	var s Snapshot[rental.Instance]
	source := service.source(&writes)
	for i := range 1000 {
		if _, found, err := s.Find(t.Context(), source, crowdID(100_000+i)); err != nil || !found {
			t.Fatalf("%t, %v", found, err)
		}
	}
	if most := int64(FirstReach + reachGrowth*FirstReach + maxReach); service.lists.Load() != most || service.singles.Load() != 1000 {
		t.Errorf("%d pages, want %d; %d servers", service.lists.Load(), most, service.singles.Load())
	}
}

// Things that the service only lists are found as far as the list is read, and are not taken for gone beyond that.
func TestSnapshotOfThingsThatAreOnlyListed(t *testing.T) {
	service := &crowd{servers: 500_000, pageSize: 200, short: true}
	var writes atomic.Uint64
	var s Snapshot[rental.Instance]
	source := service.source(&writes)
	source.One = nil
	if _, found, err := s.Find(t.Context(), source, crowdID(5)); err != nil || !found {
		t.Errorf("%t, %v", found, err)
	}
	for range 2 {
		if _, found, err := s.Find(t.Context(), source, crowdID(250_000)); !rental.IsListTooLong(err) || found {
			t.Errorf("found %t, %v; want an error", found, err)
		}
	}
	if service.lists.Load() != 101 {
		t.Errorf("%d pages, want 101", service.lists.Load())
	}
}

// The diagnostic of a list that is too long does not say that nothing was sent.
func TestTooLongListsAreExplained(t *testing.T) {
	var diags diag.Diagnostics
	AddError(&diags, "list instances", errTooLong)
	detail := diags[0].Detail()
	if !strings.Contains(detail, "the list is too long: it has more than 1 pages") || !strings.Contains(detail, "does not read longer lists") ||
		!strings.Contains(detail, "GET /instances") || strings.Contains(detail, "Nothing was sent") {
		t.Error(detail)
	}
}

// A list resource reads as many pages as its limit needs, holds none of them, and goes on where a list that is kept would end.
func TestListingStreamsUpToItsLimit(t *testing.T) {
	for limit, want := range map[int64]struct{ pages, servers int64 }{
		3: {1, 3}, 200: {1, 200}, 201: {2, 201}, 21_000: {105, 21_000},
	} {
		service := &crowd{servers: 500_000, pageSize: 200, short: true}
		source := service.source(new(atomic.Uint64))
		listing := Listing[rental.Instance, struct{}]{
			Noun: "instances", All: source.All,
			Show: func(inst rental.Instance) (id, name string) { return inst.ID, inst.ID },
		}
		schema := identityschema.Schema{Attributes: map[string]identityschema.Attribute{"id": identityschema.StringAttribute{RequiredForImport: true}}}
		var stream list.ListResultsStream
		listing.Stream(t.Context(), list.ListRequest{Limit: limit, ResourceSchema: resourceschema.Schema{}, ResourceIdentitySchema: schema}, &stream)
		before, servers, held := heap(), int64(0), int64(0)
		for result := range stream.Results {
			if result.Diagnostics.HasError() {
				t.Fatal(result.Diagnostics)
			}
			if servers++; servers == limit {
				held = heap() - before
			}
		}
		if service.lists.Load() != want.pages || servers != want.servers || held > 4<<20 {
			t.Errorf("limit %d: %d pages, %d servers, %d KiB; want %d and %d", limit, service.lists.Load(), servers, held>>10, want.pages, want.servers)
		}
	}
}
