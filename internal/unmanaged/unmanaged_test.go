package unmanaged_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/unmanaged"
)

// now is the time of the fake service.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// account is an http.RoundTripper that serves the pages of the list of instances, and the instances by id.
type account struct {
	pages  []string          // entries of each page
	byID   map[string]string // instances; others are not found
	status int               // status of the list after the first page; 0 for a success
	reads  []string          // ids that were read
}

func (a *account) RoundTrip(req *http.Request) (*http.Response, error) {
	if id, ok := strings.CutPrefix(req.URL.Path, "/api/v1/instances/"); ok {
		a.reads = append(a.reads, id)
		if inst, ok := a.byID[id]; ok {
			return response(req, http.StatusOK, inst), nil
		}
		return response(req, http.StatusNotFound, `{"error":{"code":"not_found","message":"no"}}`), nil
	}
	page := 0
	if cursor := req.URL.Query().Get("cursor"); cursor != "" && a.status != 0 {
		return response(req, a.status, `{"error":{"code":"forbidden","message":"no"}}`), nil
	} else if cursor != "" {
		if _, err := fmt.Sscan(cursor, &page); err != nil {
			return nil, err
		}
	}
	next := "null"
	if page+1 < len(a.pages) {
		next = fmt.Sprintf(`"%d"`, page+1)
	}
	return response(req, http.StatusOK, `{"data":[`+a.pages[page]+`],"next_cursor":`+next+`}`), nil
}

func response(req *http.Request, status int, body string) *http.Response {
	header := http.Header{"Content-Type": {"application/json"}, "Date": {now.Format(http.TimeFormat)}}
	return &http.Response{
		StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: req,
	}
}

// entry returns an instance. further replaces fields, such as `"status":"failed"`.
func entry(id string, kopH int, further ...string) string {
	fields := []string{
		fmt.Sprintf(`"id":%q,"type":"on_demand","gpu":{"slug":"rtx_4090","name":"RTX 4090","count":1}`, id),
		fmt.Sprintf(`"price":{"running_kop_h":%d,"stopped_kop_h":7,"traffic_kop_gb":0}`, kopH),
		`"status":"running","desired_state":"running","name":null,"disk_gb":60,"image":"i","ssh":null`,
		`"template":{"slug":"pytorch","name":"PyTorch"},"cost_so_far_kop":5,"created_at":"2026-03-01T09:30:00Z"`,
	}
	return "{" + strings.Join(append(fields, further...), ",") + "}"
}

// find runs Find with states that contain the given ids.
func find(t *testing.T, a *account, managed ...string) (unmanaged.Report, error) {
	t.Helper()
	client, err := rental.New(rental.Config{
		BaseURL: "https://rent.example/api/v1", APIKey: "gpr_" + strings.Repeat("k", 40), Transport: a, MaxRetries: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	states := unmanaged.States{Count: 1, IDs: map[string]bool{}}
	for _, id := range managed {
		states.IDs[id] = true
	}
	return unmanaged.Find(t.Context(), client, states)
}

func ids(report unmanaged.Report) (all []string) {
	for _, s := range report.Servers {
		all = append(all, s.ID)
	}
	return all
}

// Each status counts as billed, also an unknown one, unless the server is destroyed or about to be.
func TestFind_Statuses(t *testing.T) {
	a := &account{byID: map[string]string{}}
	var entries []string
	for i, status := range []string{
		"creating", "starting", "running", "stopping", "stopped", "failed", "outbid", "hibernating", "destroying",
		"destroyed",
	} {
		a.byID[status] = entry(status, 1000-i, `"status":"`+status+`"`)
		entries = append(entries, a.byID[status])
	}
	a.byID["leaving"] = entry("leaving", 500, `"desired_state":"destroyed"`)
	a.pages = []string{strings.Join(append(entries, a.byID["leaving"]), ",")}
	report, err := find(t, a)
	want := []string{"creating", "starting", "running", "stopping", "hibernating", "outbid", "stopped", "failed"}
	if got := ids(report); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if len(a.reads) != len(want) {
		t.Errorf("reads %q", a.reads)
	}
	if burn := report.BurnKopH().Int64(); burn != 1000+999+998+997+993+7+7 {
		t.Errorf("%d kopecks per hour", burn)
	}
}

// Servers in states are not read, and the same server on two pages counts once.
func TestFind_LeavesOutManagedServers(t *testing.T) {
	const old = `"created_at":"2026-02-01T00:00:00Z"`
	a := &account{
		pages: []string{entry("a", 100) + "," + entry("m", 900), entry("b", 100, old) + "," + entry("a", 100), ""},
		byID:  map[string]string{"a": entry("a", 100), "b": entry("b", 100, old)},
	}
	report, err := find(t, a, "m", "elsewhere")
	if got := ids(report); err != nil || !slices.Equal(got, []string{"b", "a"}) || report.Managed != 1 {
		t.Errorf("%q, %d managed, %v; want the oldest first", got, report.Managed, err)
	}
	if slices.Contains(a.reads, "m") || len(a.reads) != 2 {
		t.Errorf("reads %q", a.reads)
	}
	if age := report.Servers[1].Age.Round(time.Minute); age != 150*time.Minute {
		t.Errorf("age %s, want that by the clock of the API", age)
	}
}

// A list and a response can omit fields: each field comes from the response if it has it, else from the list.
func TestFind_ReadsServersAgain(t *testing.T) {
	a := &account{
		pages: []string{bare("full") + "," + bare("bare") + "," + bare("gone") + "," + entry("listed", 50, `"name":"w"`)},
		byID: map[string]string{
			"full": entry("full", 100, `"name":"train-7"`), "bare": bare("bare"), "listed": bare("listed"),
			"gone": entry("gone", 1, `"status":"destroying"`),
		},
	}
	report, err := find(t, a)
	if got := ids(report); err != nil || !slices.Equal(got, []string{"bare", "full", "listed"}) {
		t.Fatalf("%q, %v", got, err)
	}
	if s := report.Servers[0]; !s.Omitted.Name || !s.Omitted.CostSoFar || s.Age != 0 {
		t.Errorf("%+v", s)
	}
	if s := report.Servers[1]; s.NameString() != "train-7" || s.Template.Slug != "pytorch" ||
		s.CostSoFarKop != 5 || s.Omitted.CostSoFar {
		t.Errorf("%+v", s)
	}
	if s := report.Servers[2]; s.BurnKopH() != 100 || s.NameString() != "w" || s.DiskGB != 60 || s.Age == 0 ||
		s.CostSoFarKop != 5 {
		t.Errorf("%+v", s)
	}
}

// bare returns an instance without optional fields.
func bare(id string) string {
	return fmt.Sprintf(`{"id":%q,"status":"running","type":"on_demand","gpu":{},`, id) +
		`"price":{"running_kop_h":100,"stopped_kop_h":7,"traffic_kop_gb":0}}`
}

// A server of another account is not found by its id. A new server may not be found yet.
func TestFind_ServersOfOtherAccounts(t *testing.T) {
	const unreadable = `{"id":"negative","status":"running","type":"on_demand","gpu":{},"price":{"running_kop_h":-1}}`
	a := &account{
		pages: []string{
			entry("foreign", 3) + "," + entry("new", 2, `"created_at":"2026-03-01T11:59:40Z"`), unreadable,
		},
	}
	report, err := find(t, a)
	if got := ids(report); err != nil || !slices.Equal(got, []string{"new"}) ||
		!slices.Equal(report.Foreign, []string{"foreign", "negative"}) {
		t.Errorf("%q, foreign %q, %v", got, report.Foreign, err)
	}
}

// A partial list is an error: its servers must not count as all servers.
func TestFind_IncompleteList(t *testing.T) {
	for name, a := range map[string]*account{
		"second page fails":   {pages: []string{entry("a", 1), entry("b", 1)}, status: http.StatusForbidden},
		"entry without an id": {pages: []string{`{"status":"running"}`}},
	} {
		if report, err := find(t, a); err == nil {
			t.Errorf("%s: %q and no error", name, ids(report))
		}
	}
}

// A server that cannot be read or decoded is listed, unless a state contains it.
func TestFind_UnreadableServer(t *testing.T) {
	const unreadable = `{"id":"x","status":"running","type":"on_demand","gpu":{},"price":{"running_kop_h":"much"}}`
	a := &account{
		pages: []string{unreadable + "," + entry("y", 50)}, byID: map[string]string{"x": unreadable, "y": `{"id":"other"}`},
	}
	if report, err := find(t, a); err != nil || !slices.Equal(ids(report), []string{"y", "x"}) ||
		report.Servers[1].Status != "" || !report.Servers[1].Omitted.CostSoFar {
		t.Errorf("%q %+v, %v", ids(report), report, err)
	}
	a.reads = nil
	if report, err := find(t, a, "x", "y"); err != nil || report.Managed != 2 || len(a.reads) > 0 {
		t.Errorf("unreadable servers that a state contains: %+v, %v", report, err)
	}
}

// The first hundred servers are read one by one, and others only without a name.
func TestFind_FewRequests(t *testing.T) {
	a := &account{byID: map[string]string{}}
	var entries []string
	for i := range 150 {
		id := fmt.Sprintf("s%03d", i)
		a.byID[id] = entry(id, 1000-i)
		entries = append(entries, a.byID[id])
	}
	a.pages = []string{strings.Join(entries, ",") + "," + bare("nameless")}
	a.byID["nameless"] = entry("nameless", 100)
	report, err := find(t, a)
	if err != nil || len(report.Servers) != 151 || len(a.reads) != 101 || a.reads[100] != "nameless" {
		t.Errorf("%d servers, %d reads, %v", len(report.Servers), len(a.reads), err)
	}
}
