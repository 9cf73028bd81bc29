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

// largeAccount is a transport for an account with many instances. It creates each page on request.
type largeAccount struct {
	instances int
	pageSize  int
	padding   string // follows each server of a list
	short     bool   // servers have only an id, which is faster
	lists     atomic.Int64
	singles   atomic.Int64
}

func instanceID(i int) string { return fmt.Sprintf("inst_%06d", i) }

// instance returns an instance as JSON. Without short it is as long as the example of the API document.
func (c *largeAccount) instance(i int) string {
	if c.short {
		return fmt.Sprintf(`{"id":%q}`, instanceID(i))
	}
	return fmt.Sprintf(`{"id":%q,"name":"worker-%d","status":"running","desired_state":"running","type":"on_demand",`+
		`"gpu":{"slug":"rtx-4090","name":"NVIDIA GeForce RTX 4090","count":1,"vram_gb":24},`+
		`"template":{"slug":"pytorch","name":"PyTorch"},`+
		`"image":"pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime","disk_gb":50,"country":"RU",`+
		`"price":{"running_kop_h":9000,"stopped_kop_h":120,"traffic_kop_gb":100},"cost_so_far_kop":123456,`+
		`"ssh":{"host":"gpu.rent.example","port":42022,"user":"root","command":"ssh -p 42022 root@gpu.rent.example"},`+
		`"urls":[{"label":"Jupyter","url":"https://gpu.rent.example:48888/?token=0123456789abcdef"}],`+
		`"created_at":"2026-01-02T03:04:05Z","started_at":"2026-01-02T03:05:05Z","stop_reason":null}`, instanceID(i), i)
}

func (c *largeAccount) RoundTrip(req *http.Request) (*http.Response, error) {
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     header,
		Body:       io.NopCloser(strings.NewReader(c.body(req))),
		Request:    req,
	}, nil
}

func (c *largeAccount) body(req *http.Request) string {
	if id, single := strings.CutPrefix(req.URL.Path, "/api/v1/instances/inst_"); single {
		c.singles.Add(1)
		number, err := strconv.Atoi(id)
		if err != nil {
			panic(err)
		}
		return c.instance(number)
	}
	c.lists.Add(1)
	begin, _ := strconv.Atoi(req.URL.Query().Get("cursor")) //nolint:errcheck // the first page has none
	end := min(begin+c.pageSize, c.instances)
	var body strings.Builder
	for i := begin; i < end; i++ {
		body.WriteString(map[bool]string{true: `{"data":[`, false: ","}[i == begin] + c.instance(i) + c.padding)
	}
	if end == c.instances {
		return body.String() + `],"next_cursor":null}`
	}
	return body.String() + fmt.Sprintf(`],"next_cursor":"%d"}`, end)
}

// client returns a client of the account. It panics on an error, because errTooLong calls it outside a test.
func (c *largeAccount) client() *rental.Client {
	client, err := rental.New(
		rental.Config{BaseURL: "https://rent.example/api/v1", APIKey: "test" + strings.Repeat("0", 40), Transport: c},
	)
	if err != nil {
		panic(err)
	}
	return client
}

// errTooLong is the error that the client returns for a list that is too long.
var errTooLong = func() error {
	service := &largeAccount{instances: 2, pageSize: 1}
	list := service.client().ListInstances(
		context.Background(),
		rental.ListInstancesQuery{ListOptions: rental.ListOptions{MaxPages: 1}},
	)
	_, err := rental.Collect(list)
	return err
}()

// heap returns the number of bytes in use.
func heap() int64 {
	runtime.GC()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	return int64(now.HeapAlloc)
}

// The diagnostic of a list that is too long explains the bound.
func TestAddAPIError_ListTooLong(t *testing.T) {
	var diags diag.Diagnostics
	AddAPIError(&diags, "list instances", errTooLong)
	detail := diags[0].Detail()
	if !strings.Contains(detail, "the list is too long: it has more than 1 pages") ||
		!strings.Contains(detail, "does not read longer lists") ||
		!strings.Contains(detail, "GET /instances") ||
		strings.Contains(detail, "No request was sent") {
		t.Error(detail)
	}
}

// A list resource reads only the pages that its limit requires, keeps none of them in memory, and has no other limit.
func TestListResults_StreamsUpToLimit(t *testing.T) {
	for limit, want := range map[int64]struct{ pages, instances int64 }{
		3: {1, 3}, 200: {1, 200}, 201: {2, 201}, 21_000: {105, 21_000},
	} {
		service := &largeAccount{instances: 500_000, pageSize: 200, short: true}
		client := service.client()
		listing := ListResults[rental.Instance, struct{}]{
			Kind: "instances",
			List: func(ctx context.Context, options rental.ListOptions) iter.Seq2[rental.Instance, error] {
				return client.ListInstances(ctx, rental.ListInstancesQuery{ListOptions: options})
			},
			Matches: func(rental.Instance) bool { return true },
			Display: func(inst rental.Instance) (id, name string) { return inst.ID, inst.ID },
		}
		schema := identityschema.Schema{
			Attributes: map[string]identityschema.Attribute{"id": identityschema.StringAttribute{RequiredForImport: true}},
		}
		var stream list.ListResultsStream
		listing.Stream(
			t.Context(),
			list.ListRequest{Limit: limit, ResourceSchema: resourceschema.Schema{}, ResourceIdentitySchema: schema},
			&stream,
		)
		before, instances, held := heap(), int64(0), int64(0)
		for result := range stream.Results {
			if result.Diagnostics.HasError() {
				t.Fatal(result.Diagnostics)
			}
			if instances++; instances == limit {
				held = heap() - before
			}
		}
		if service.lists.Load() != want.pages || instances != want.instances || held > 4<<20 {
			t.Errorf(
				"limit %d: %d pages, %d servers, %d KiB; want %d and %d",
				limit,
				service.lists.Load(),
				instances,
				held>>10,
				want.pages,
				want.instances,
			)
		}
	}
}
