package unmanaged_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
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

func member(fleet string) func(*unmanaged.Server) {
	return func(s *unmanaged.Server) { s.Fleet = fleet }
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
	for want, r := range map[string]unmanaged.Report{
		"No unmanaged servers: the account has no billed servers.": {States: unmanaged.States{Count: 1}},
		"No unmanaged servers: the given state contains all billed servers of the account (1).": {
			States: unmanaged.States{Count: 1}, Managed: 1,
		},
		"No unmanaged servers: the 2 given states contain all billed servers of the account (3).": report(),
	} {
		if got := r.Table(); got != want+"\n" {
			t.Errorf("%q, want %q", got, want)
		}
	}
	table := unmanaged.Report{Servers: []*unmanaged.Server{server("ins_1", "w")}}.Table()
	if want := "No state was given, so these are all billed servers of the account.\n"; !strings.HasSuffix(table, want) {
		t.Errorf("%q, want %q", table, want)
	}
}

// No format prints a character that a terminal interprets, and JSON and HCL contain the name as it is.
func TestReport_HostileName(t *testing.T) {
	r := report(server("ins_1", hostile, func(s *unmanaged.Server) {
		s.Status, s.GPU.Name, s.Fleet = "running\x1b[2J", "\u202eGPU\n", hostile
	}))
	asJSON, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	table, config := r.Table(), r.Import()
	for _, text := range []string{table, asJSON, config} {
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
	if blocks := parse(t, config); len(blocks) != 2 || argument(t, blocks[1], "name") != hostile {
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

// argument returns an argument of a block that is a text without references.
func argument(t *testing.T, block *hclsyntax.Block, name string) string {
	t.Helper()
	attribute := block.Body.Attributes[name]
	if attribute == nil {
		return ""
	}
	value, diags := attribute.Expr.Value(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return value.AsString()
}

func TestReport_JSON(t *testing.T) {
	r := report(server("ins_1", "train-0", member("train")), server("ins_2", "", nameless, func(s *unmanaged.Server) {
		s.CreatedAt, s.Omitted.CostSoFar = time.Time{}, true
	}))
	got, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "format_version": "1.0",
  "base_url": "https://rent.example/api/v1",
  "states": 2,
  "managed_servers": 3,
  "burn_kop_h": 700000,
  "monthly_kop": 511000000,
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
      "age_seconds": 93600,
      "fleet": "train"
    },
    {
      "id": "ins_2",
      "name": null,
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
      "cost_so_far_kop": null,
      "created_at": null,
      "age_seconds": null,
      "fleet": null
    }
  ]
}
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
	if got, err := (unmanaged.Report{}).JSON(); err != nil || !strings.Contains(got, `"servers": []`) {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestReport_Import(t *testing.T) {
	config := report(server("ins_1", "my server", func(s *unmanaged.Server) {
		s.Status, s.DesiredState, s.Type, s.GPU.Count = rental.StatusStopped, rental.DesiredStopped, rental.Interruptible, 3
		s.Template.Slug, s.Image = "custom", "registry.example/own:1"
	})).Import()
	const want = `# 1 unmanaged server of the account at https://rent.example/api/v1.
# For a server with a resource in the configuration, use only the import block with its address.

# ins_1: stopped, 3 × RTX 4090, 0.73 ₽ per hour, age 1 d 2 h
import {
  to = gpurent_instance.my_server
  id = "ins_1"
}

resource "gpurent_instance" "my_server" {
  name          = "my server"
  template      = "custom"
  image         = "registry.example/own:1"
  disk_gb       = 60
  type          = "interruptible"
  desired_state = "stopped"
  offer_query = {
    gpu      = ["rtx_4090"]
    min_gpus = 3
  }
}
`
	if config != want {
		t.Errorf("got\n%s\nwant\n%s", config, want)
	}
	none := report().Import()
	if len(parse(t, none)) != 0 || !strings.HasPrefix(none, "# No unmanaged servers") {
		t.Errorf("%q", none)
	}
}

// The name of a resource is a valid identifier, derives from the name of the server, and is unique.
func TestReport_Import_ResourceNames(t *testing.T) {
	blocks := parse(t, report(
		server("ins_1", "w"), server("ins_2", "w"), server("ins_3", ""), server("ins_4", "обучение"),
		server("ins_5", "4090 box"), server("ins_6", "-_-"), server("ins_7", "w_ins_2"), server("ins/8", "w"),
		server("ins_8", "w"), server("ins_9", "server_ins_3"), server("ins_10", "a.b[0]"), server("№", ""),
	).Import())
	want := []string{
		"w", "w_ins_2", "server_ins_3", "server_ins_4", "server_4090_box", "server_ins_6", "w_ins_2_ins_7", "w_ins_8",
		"server_ins_8_2", "server_ins_3_ins_9", "a_b_0", "server",
	}
	for i, label := range want {
		to, diags := hcl.AbsTraversalForExpr(blocks[2*i].Body.Attributes["to"].Expr)
		if diags.HasErrors() || len(to) != 2 || to[1].(hcl.TraverseAttr).Name != label ||
			blocks[2*i+1].Labels[1] != label || !hclsyntax.ValidIdentifier(label) {
			t.Errorf("resource %q is imported to %v, want %s", blocks[2*i+1].Labels, to, label)
		}
	}
}

// Where an import leads to a change, a comment explains it, and no apply starts a server, or rents or destroys one.
func TestReport_Import_Statuses(t *testing.T) {
	const changes = "a change because of this status"
	for name, test := range map[string]struct {
		change      func(*unmanaged.Server)
		comment     string // empty for none
		arguments   string // desired_state and on_outbid
		notImported bool
	}{
		"running":                {status("running", "running"), "", "", false},
		"running, no desired":    {status("running", ""), "", "", false},
		"creating":               {status("creating", "running"), changes, "", false},
		"unknown":                {status("hibernating", "running"), changes, "", false},
		"stopping":               {status("stopping", "stopped"), changes, "stopped", false},
		"stopped":                {status("stopped", "stopped"), "", "stopped", false},
		"stopped, no desired":    {status("stopped", ""), "", "stopped", false},
		"stopped by the service": {status("stopped", "running"), changes, "stopped", false},
		"outbid":                 {status("outbid", "running"), changes, "keep", false},
		"outbid and stopped":     {status("outbid", "stopped"), "", "stopped", false},
		"failed":                 {status("failed", "running"), "would replace the failed server", "", true},
		"unreadable":             {status("", ""), "version of the provider cannot read", "", true},
		"unknown type":           {func(s *unmanaged.Server) { s.Type = "reserved" }, "does not know its type", "", true},
		"no template":            {func(s *unmanaged.Server) { s.Template.Slug = "" }, "return its template", "", true},
		"no disk":                {func(s *unmanaged.Server) { s.DiskGB = 0 }, "size of its disk", "", true},
	} {
		config := report(server("ins_1", "w", test.change)).Import()
		blocks := parse(t, config)
		if (len(blocks) == 0) != test.notImported || !strings.Contains(config, test.comment) ||
			strings.Contains(config, changes) != (test.comment == changes) {
			t.Errorf("%s: %d blocks, want %q:\n%s", name, len(blocks), test.comment, config)
			continue
		}
		if test.notImported {
			continue
		}
		got := argument(t, blocks[1], "desired_state") + argument(t, blocks[1], "on_outbid")
		if got != test.arguments || blocks[1].Body.Attributes["image"] != nil {
			t.Errorf("%s: got %q, want %q, and no image:\n%s", name, got, test.arguments, config)
		}
	}
}

// Without a usable slug and number of GPUs, the query has no filters. Servers that are named like members of a fleet
// are imported as instances: an import of the fleet would take all servers with such names, including those of other
// states.
func TestReport_Import_UnusualServers(t *testing.T) {
	config := report(
		server("ins_1", "train-0", member("train")),
		server("ins_2", "w", func(s *unmanaged.Server) { s.GPU = rental.InstanceGPU{Slug: "a,b"} }),
	).Import()
	if blocks := parse(t, config); len(blocks) != 4 || strings.Contains(config, "gpurent_fleet") ||
		!strings.Contains(config, ", named like a member of the fleet \"train\"\n") ||
		!strings.Contains(config, "  offer_query = {}\n}") {
		t.Errorf("%d blocks:\n%s", len(blocks), config)
	}
}
