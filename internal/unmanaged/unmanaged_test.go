package unmanaged_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/unmanaged"
)

// now is the time of the fake service.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// read matches the requests for one instance.
const read = "GET /instances/*"

// account returns a service with the pages of the list of instances, and the instances by id. Others are not found.
func account(pages []string, byID ...string) *rentaltest.Transport {
	api := new(rentaltest.Transport)
	api.Script(read, rentaltest.Fail(http.StatusNotFound))
	for _, inst := range byID {
		var found struct{ ID string }
		if err := json.Unmarshal([]byte(inst), &found); err != nil {
			panic(err)
		}
		api.Script("GET /instances/"+found.ID, respond(inst))
	}
	list := make([]rentaltest.Response, len(pages))
	for i, page := range pages {
		next := "null"
		if i+1 < len(pages) {
			next = strconv.Quote(strconv.Itoa(i + 1))
		}
		list[i] = respond(`{"data":[` + page + `],"next_cursor":` + next + `}`)
	}
	api.Script("GET /instances", rentaltest.InTurn(list...))
	return api
}

func respond(body string) rentaltest.Response {
	return func(req *http.Request) (*http.Response, error) {
		resp, err := rentaltest.JSONResponse(req, http.StatusOK, json.RawMessage(body))
		resp.Header.Set("Date", now.Format(http.TimeFormat))
		return resp, err
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
func find(t *testing.T, api *rentaltest.Transport, managed ...string) (unmanaged.Report, error) {
	t.Helper()
	states := unmanaged.States{Count: 1, IDs: map[string]bool{}}
	for _, id := range managed {
		states.IDs[id] = true
	}
	return unmanaged.Find(t.Context(), rentaltest.Client(t, api), states)
}

func ids(report unmanaged.Report) (all []string) {
	for _, s := range report.Servers {
		all = append(all, s.ID)
	}
	return all
}

// Each status counts as billed, also an unknown one, unless the server is destroyed or about to be.
func TestFind_Statuses(t *testing.T) {
	var entries []string
	for i, status := range []string{
		"creating", "starting", "running", "stopping", "stopped", "failed", "outbid", "hibernating", "destroying",
		"destroyed",
	} {
		entries = append(entries, entry(status, 1000-i, `"status":"`+status+`"`))
	}
	entries = append(entries, entry("leaving", 500, `"desired_state":"destroyed"`))
	api := account([]string{strings.Join(entries, ",")}, entries...)
	report, err := find(t, api)
	want := []string{"creating", "starting", "running", "stopping", "hibernating", "outbid", "stopped", "failed"}
	if got := ids(report); err != nil || !slices.Equal(got, want) || len(api.Sent(read)) != len(want) {
		t.Errorf("%q, %v; want %q; reads %q", got, err, want, api.Sent(read))
	}
	if burn := report.BurnKopH().Int64(); burn != 1000+999+998+997+993+7+7 {
		t.Errorf("%d kopecks per hour", burn)
	}
}

// Servers in states are not read, and the same server on two pages counts once.
func TestFind_LeavesOutManagedServers(t *testing.T) {
	a, b := entry("a", 100), entry("b", 100, `"created_at":"2026-02-01T00:00:00Z"`)
	api := account([]string{a + "," + entry("m", 900), b + "," + a, ""}, a, b)
	report, err := find(t, api, "m", "elsewhere")
	if got := ids(report); err != nil || !slices.Equal(got, []string{"b", "a"}) || report.Managed != 1 {
		t.Errorf("%q, %d managed, %v; want the oldest first", got, report.Managed, err)
	}
	if sent := api.Sent(read); slices.Contains(sent, "GET /instances/m") || len(sent) != 2 {
		t.Errorf("reads %q", sent)
	}
	if age := report.Servers[1].Age.Round(time.Minute); age != 150*time.Minute {
		t.Errorf("age %s, want that by the clock of the API", age)
	}
}

// A list and a response can omit fields: each field comes from the response if it has it, else from the list.
func TestFind_ReadsServersAgain(t *testing.T) {
	report, err := find(t, account(
		[]string{bare("full") + "," + bare("bare") + "," + bare("gone") + "," + entry("listed", 50, `"name":"w"`)},
		entry("full", 100, `"name":"train-7"`), bare("bare"), bare("listed"), entry("gone", 1, `"status":"destroying"`),
	))
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
	report, err := find(t, account([]string{
		entry("foreign", 3) + "," + entry("new", 2, `"created_at":"2026-03-01T11:59:40Z"`), unreadable,
	}))
	if got := ids(report); err != nil || !slices.Equal(got, []string{"new"}) ||
		!slices.Equal(report.Foreign, []string{"foreign", "negative"}) {
		t.Errorf("%q, foreign %q, %v", got, report.Foreign, err)
	}
}

// A partial list is an error: its servers must not count as all servers.
func TestFind_IncompleteList(t *testing.T) {
	secondFails := new(rentaltest.Transport)
	secondFails.Script("GET /instances", rentaltest.InTurn(respond(`{"data":[`+entry("a", 1)+`],"next_cursor":"1"}`),
		rentaltest.Fail(http.StatusForbidden)))
	for name, api := range map[string]*rentaltest.Transport{
		"second page fails": secondFails, "entry without an id": account([]string{`{"status":"running"}`}),
	} {
		if report, err := find(t, api); err == nil {
			t.Errorf("%s: %q and no error", name, ids(report))
		}
	}
}

// A server that cannot be read or decoded is listed, unless a state contains it.
func TestFind_UnreadableServer(t *testing.T) {
	const unreadable = `{"id":"x","status":"running","type":"on_demand","gpu":{},"price":{"running_kop_h":"much"}}`
	list := []string{unreadable + "," + entry("y", 50)}
	api := account(list, unreadable)
	api.Script("GET /instances/y", respond(`{"id":"other"}`))
	if report, err := find(t, api); err != nil || !slices.Equal(ids(report), []string{"y", "x"}) ||
		report.Servers[1].Status != "" || !report.Servers[1].Omitted.CostSoFar {
		t.Errorf("%q %+v, %v", ids(report), report, err)
	}
	api = account(list)
	if report, err := find(t, api, "x", "y"); err != nil || report.Managed != 2 || len(api.Sent(read)) > 0 {
		t.Errorf("unreadable servers that a state contains: %+v, %v", report, err)
	}
}

// The first hundred servers are read one by one, and others only without a name.
func TestFind_FewRequests(t *testing.T) {
	var entries []string
	for i := range 150 {
		entries = append(entries, entry(fmt.Sprintf("s%03d", i), 1000-i))
	}
	page := strings.Join(entries, ",") + "," + bare("nameless")
	api := account([]string{page}, append(entries, entry("nameless", 100))...)
	report, err := find(t, api)
	sent := api.Sent(read)
	if err != nil || len(report.Servers) != 151 || len(sent) != 101 || sent[100] != "GET /instances/nameless" {
		t.Errorf("%d servers, reads %q, %v", len(report.Servers), sent, err)
	}
}
