package unmanaged_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/unmanaged"
)

// server returns a running server. change replaces fields.
func server(id, name string, change ...func(*unmanaged.Server)) *unmanaged.Server {
	s := &unmanaged.Server{
		Instance: rental.Instance{
			ID: id, Name: &name, Status: rental.StatusRunning, DesiredState: rental.DesiredRunning, Type: rental.OnDemand,
			GPU: rental.InstanceGPU{Slug: "rtx_4090", Name: "RTX 4090", Count: 1}, DiskGB: 60,
			Template: rental.TemplateRef{Slug: "pytorch"}, Image: "pytorch:1",
			Price:        rental.InstancePrice{RunningKopH: 350000, StoppedKopH: 73},
			CostSoFarKop: 123456, CreatedAt: now.Add(-26 * time.Hour),
		},
		Age: 26 * time.Hour,
	}
	for _, c := range change {
		c(s)
	}
	return s
}

func nameless(s *unmanaged.Server) { s.Name = nil }

func status(status rental.InstanceStatus, desired rental.DesiredState) func(*unmanaged.Server) {
	return func(s *unmanaged.Server) { s.Status, s.DesiredState = status, desired }
}

// report returns a report of two states with three managed servers.
func report(servers ...*unmanaged.Server) unmanaged.Report {
	return unmanaged.Report{
		BaseURL: "https://rent.example/api/v1", States: unmanaged.States{Count: 2}, Managed: 3, Servers: servers,
	}
}

// hostile is a name with templates of HCL, quotes, control sequences of terminals, and direction characters.
const hostile = "a\"\n}\r${file(\"x\")} %{ if true } $${b} \\ \x1b[31m\u009b2J\u202e\u2028\U000e0041\t`*/ #"

func TestReport_Table(t *testing.T) {
	r := report(
		server("ins_1", "train"),
		server("ins_2", "", nameless, status("stopped", "stopped"), func(s *unmanaged.Server) { s.Age = 90 * time.Minute }),
		server("ins_3", "", nameless, func(s *unmanaged.Server) {
			s.Status, s.GPU.Name, s.Age = rental.StatusFailed, "", 30*time.Second
			s.CreatedAt, s.Omitted = time.Time{}, rental.InstanceOmitted{Name: true, CostSoFar: true}
		}),
	)
	const want = `ID      NAME    STATUS    GPU            PRICE PER HOUR   COST SO FAR   AGE
ins_1   train   running   1 × RTX 4090   3,500.00 ₽       1,234.56 ₽    1 d 2 h
ins_2   -       stopped   1 × RTX 4090   0.73 ₽           1,234.56 ₽    1 h 30 min
ins_3   ?       failed    1 × rtx_4090   0.00 ₽           ?             ?

3 unmanaged servers, 3,500.73 ₽ per hour, 2,555,532.90 ₽ per month (730 hours).
The sums do not include failed servers: the API has no price for this status.
The 2 given states contain 3 other billed servers of the account.
`
	if got := r.Table(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestReport_Table_States(t *testing.T) {
	one := unmanaged.States{Count: 1}
	for want, r := range map[string]unmanaged.Report{
		"No unmanaged servers: the account has no billed servers.":                                {States: one},
		"No unmanaged servers: the given state contains all billed servers of the account (1).":   {States: one, Managed: 1},
		"No unmanaged servers: the 2 given states contain all billed servers of the account (3).": report(),
		" terraform show -json | terraform-provider-gpurent unmanaged -": {
			Servers: []*unmanaged.Server{server("ins_1", "w")},
		},
	} {
		if got := r.Table(); !strings.HasSuffix(got, want+"\n") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// No text for people has a character that a terminal interprets, and JSON contains the name as it is.
func TestReport_HostileName(t *testing.T) {
	r := report(server("ins_1", hostile, func(s *unmanaged.Server) {
		s.Status, s.GPU.Name = "running\x1b[2J", "\u202eGPU\n"
	}))
	asJSON, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	table, config := r.Table(), r.Import()
	for _, text := range []string{table, config} {
		if strings.ContainsAny(text, "\x1b\r\t\u009b\u202e\u2028\U000e0041") {
			t.Errorf("%q", text)
		}
	}
	if lines := strings.Count(table, "\n"); lines != 5 {
		t.Errorf("%d lines:\n%s", lines, table)
	}
	var document unmanaged.Document
	if err := json.Unmarshal([]byte(asJSON), &document); err != nil || *document.Servers[0].Name != hostile {
		t.Errorf("%v\n%s", err, asJSON)
	}
	if blocks := parse(t, config); len(blocks) != 1 {
		t.Errorf("%d blocks:\n%s", len(blocks), config)
	}
}

// parse returns the blocks of a configuration.
func parse(t *testing.T, config string) hclsyntax.Blocks {
	t.Helper()
	file, diags := hclparse.NewParser().ParseHCL([]byte(config), "import.tf")
	if diags.HasErrors() {
		t.Fatalf("%v in\n%s", diags, config)
	}
	return file.Body.(*hclsyntax.Body).Blocks
}

func TestReport_JSON(t *testing.T) {
	got, err := report(server("ins_1", "train-0")).JSON()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "format_version": "1.0",
  "base_url": "https://rent.example/api/v1",
  "states": 2,
  "managed_servers": 3,
  "burn_kop_h": 350000,
  "monthly_kop": 255500000,
  "servers": [
    {
      "id": "ins_1",
      "name": "train-0",
      "status": "running",
      "type": "on_demand",
      "gpu": {
        "slug": "rtx_4090",
        "name": "RTX 4090",
        "count": 1
      },
      "burn_kop_h": 350000,
      "running_kop_h": 350000,
      "stopped_kop_h": 73,
      "cost_so_far_kop": 123456,
      "created_at": "2026-02-28T10:00:00Z",
      "age_seconds": 93600
    }
  ]
}
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
	unknown, err := report(server("ins_2", "", nameless, func(s *unmanaged.Server) {
		s.CreatedAt, s.Omitted.CostSoFar = time.Time{}, true
	})).JSON()
	if err != nil || strings.Count(unknown, ": null") != 4 {
		t.Errorf("%v, want name, cost, creation and age to be null:\n%s", err, unknown)
	}
	if got, err := (unmanaged.Report{}).JSON(); err != nil || !strings.Contains(got, `"servers": []`) {
		t.Errorf("%v\n%s", err, got)
	}
}

// A server that an apply would replace or start has no block.
func TestReport_ImportChangesNothing(t *testing.T) {
	for _, test := range []struct {
		status  rental.InstanceStatus
		desired rental.DesiredState
		change  string
	}{
		{"running", "running", ""}, {"starting", "running", ""}, {"stopped", "stopped", ""}, {"outbid", "stopped", ""},
		{"stopped", "running", "start it"}, {"outbid", "running", "place a new bid for it"},
		{"failed", "running", "replace it"}, {"", "", "change it"},
	} {
		config := report(server("ins_1", "w", status(test.status, test.desired))).Import()
		if blocks := len(parse(t, config)); (blocks == 0) != (test.change != "") || !strings.Contains(config, test.change) {
			t.Errorf("%+v: %s", test, config)
		}
	}
}

// The blocks have valid and different addresses, whatever the names and ids are.
func TestReport_Import(t *testing.T) {
	config := report(server("ins_1", "my server"), server("ins_2", "", nameless, status("stopped", "stopped")),
		server("ins_${3}", "w")).Import()
	const want = `# 3 unmanaged servers of the account at https://rent.example/api/v1.

# my server: running, 1 × RTX 4090, 3,500.00 ₽ per hour, age 1 d 2 h
import {
  to = gpurent_instance.server_1
  id = "ins_1"
}

# -: stopped, 1 × RTX 4090, 0.73 ₽ per hour, age 1 d 2 h
import {
  to = gpurent_instance.server_2
  id = "ins_2"
}

# w: running, 1 × RTX 4090, 3,500.00 ₽ per hour, age 1 d 2 h
# Not imported: the id ins_${3} has characters that have a meaning in HCL.
`
	if config != want {
		t.Errorf("got\n%s\nwant\n%s", config, want)
	}
	if blocks := parse(t, config); len(blocks) != 2 {
		t.Errorf("%d blocks", len(blocks))
	}
	none := report().Import()
	if len(parse(t, none)) != 0 || !strings.HasPrefix(none, "# No unmanaged servers") {
		t.Errorf("%q", none)
	}
}
