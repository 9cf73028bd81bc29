package cost_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// scenario is a plan to record.
type scenario struct {
	name      string
	tofuOnly  bool     // Terraform does not have the feature
	applied   []string // configurations to apply before
	after     func(*testing.T, *acctest.Env, *acctest.Workspace)
	planned   string
	arguments []string // of the plan
	prior     bool     // keep the prior state
}

// server returns the configuration of an instance. A later argument replaces an earlier one with the same name.
func server(name string, arguments ...string) string {
	return block("gpurent_instance", name, append([]string{
		fmt.Sprintf("name = %q", name), `offer_query = { gpu = ["rtx_4090"], num_gpus = [1] }`, pytorch, cap9000, disk60,
	}, arguments...)...)
}

// fleet returns the configuration of a fleet.
func fleet(size int, arguments ...string) string {
	return block("gpurent_fleet", "train", append([]string{
		`name = "train"`, fmt.Sprintf("size = %d", size), `offer_queries = [{ gpu = ["rtx_4090"], num_gpus = [1] }]`,
		pytorch, cap9000, disk60,
	}, arguments...)...)
}

func block(kind, name string, arguments ...string) string {
	text := fmt.Sprintf("resource %q %q {\n", kind, name)
	for i, argument := range arguments {
		key, _, _ := strings.Cut(argument, " =")
		replaces := func(later string) bool { return strings.HasPrefix(later, key+" =") }
		if !slices.ContainsFunc(arguments[i+1:], replaces) {
			text += "  " + argument + "\n"
		}
	}
	return text + "}\n"
}

const (
	disk60  = "disk_gb = 60"
	pytorch = `template = "pytorch"`
	cap9000 = "max_price_kop_h = 9000"
	spot    = `type = "interruptible"`
	stopped = `desired_state = "stopped"`
	before  = "lifecycle { create_before_destroy = true }"
	sshKey  = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKJLu/BJj6IuH3Ssli37zXUHMHdBfD153tGyfACAryQ8 me@example.com"
)

var scenarios = []scenario{
	{name: "create", planned: server("a")},
	{name: "create-base-disk", planned: server("a", "disk_gb = 10", `template = "ubuntu"`)},
	{name: "create-without-cap", planned: server("a", "max_price_kop_h = null")},
	{name: "for-each", planned: server("a", "for_each = toset([\"x\", \"`|<b>@me\"])", "name = null")},
	{name: "replace", applied: []string{server("a")}, planned: server("a", "disk_gb = 80")},
	{name: "destroy", applied: []string{server("a")}, planned: server("a"), arguments: []string{"-destroy"}},
	{
		name: "forget", applied: []string{server("a")},
		planned: "removed {\n  from = gpurent_instance.a\n  lifecycle { destroy = false }\n}\n",
	},
	{
		name: "replace-forget", tofuOnly: true, applied: []string{server("a", "lifecycle { destroy = false }")},
		planned: server("a", "disk_gb = 80", "lifecycle { destroy = false }"),
	},
	{
		name: "moved", applied: []string{server("a")},
		planned: server("b") + "moved {\n  from = gpurent_instance.a\n  to = gpurent_instance.b\n}\n",
	},
	{
		name: "deposed", applied: []string{server("a", before), server("a", "disk_gb = 80", before)},
		after: refuseDestroys, planned: server("a", "disk_gb = 80", before),
	},
	{
		name: "drift", applied: []string{server("a") + server("b")}, planned: server("a"),
		after: setServers("", simulator.InstancePatch{Status: new("stopped"), DesiredState: new("stopped"),
			StopReason: new("low_balance")}),
	},
	{
		name: "gone", applied: []string{server("a")}, planned: server("a"),
		after: setServers("", simulator.InstancePatch{Status: new("destroyed"), DesiredState: new("destroyed")}),
	},
	{
		name: "failed", applied: []string{server("a")}, planned: server("a"),
		after: setServers("", simulator.InstancePatch{Status: new("failed")}),
	},
	{
		name: "sensitive",
		planned: "variable \"secret\" {\n  default = \"hunter2\"\n  sensitive = true\n}\n" +
			"variable \"limit\" {\n  default = 4321\n  sensitive = true\n}\n" +
			block("gpurent_template", "t", `name = "mine"`, `image = "ubuntu:24.04"`,
				"env = { TOKEN = var.secret, A = \"b\" }", "onstart = var.secret") +
			server("a", "max_price_kop_h = var.limit"),
	},
	{name: "stop", applied: []string{server("a")}, planned: server("a", stopped)},
	{name: "start", applied: []string{server("a", stopped)}, planned: server("a")},
	{name: "create-stopped", planned: server("a", stopped)},
	{
		name: "outbid-restart", applied: []string{server("a", spot)}, planned: server("a", spot),
		after: setServers("", outbid),
	},
	{
		name: "outbid-keep", applied: []string{server("a", spot, keep)}, planned: server("a", spot, keep),
		after: setServers("", outbid),
	},
	{name: "fleet-create", planned: fleet(3)},
	{name: "fleet-up", applied: []string{fleet(3)}, planned: fleet(5)},
	{name: "fleet-down", applied: []string{fleet(3)}, planned: fleet(1)},
	{
		name: "fleet-repair", applied: []string{fleet(3)}, planned: fleet(3),
		after: setServers("1", simulator.InstancePatch{Status: new("failed")}),
	},
	{
		name: "fleet-start", applied: []string{fleet(2, stopped)},
		planned: fleet(2),
	},
	{name: "fleet-stop", applied: []string{fleet(2)}, planned: fleet(2, stopped)},
	{
		name: "fleet-outbid", applied: []string{fleet(2, spot)},
		planned: fleet(2, spot), after: setServers("0", outbid),
	},
	{
		name: "fleet-rolling", applied: []string{fleet(2, `update = "rolling"`)},
		planned: fleet(2, "disk_gb = 80", `update = "rolling"`),
	},
	{
		name:    "unknown-arguments",
		applied: []string{number(1) + server("b") + fleet(1)},
		planned: number(2) + server("b", "desired_state = terraform_data.n.output == 2 ? \"running\" : \"stopped\"") +
			fleet(1, "size = terraform_data.n.output"),
	},
	{name: "no-op", applied: []string{server("a")}, planned: server("a")},
	{
		name: "refresh-only", applied: []string{server("a")}, planned: server("a"),
		after:     setServers("", simulator.InstancePatch{Status: new("stopped"), DesiredState: new("stopped")}),
		arguments: []string{"-refresh-only"}, prior: true,
	},
	{
		name: "targeted", applied: []string{server("a")}, planned: server("a") + server("b"),
		arguments: []string{"-target=gpurent_instance.b"}, prior: true,
	},
	{
		name: "mixed", applied: []string{server("a") + server("b") + fleet(2)},
		planned: server("b", stopped) + server("c") + ownKey + fleet(3) +
			block("terraform_data", "t", "input = 1"),
	},
}

const (
	keep   = `on_outbid = "keep"`
	ownKey = "resource \"gpurent_ssh_key\" \"k\" {\n  public_key = \"" + sshKey + "\"\n}\n"
)

var outbid = simulator.InstancePatch{Status: new("outbid")}

func number(n int) string { return block("terraform_data", "n", fmt.Sprintf("input = %d", n)) }

// refuseDestroys makes all later destroys fail, so that a replaced server becomes a deposed object.
func refuseDestroys(t *testing.T, env *acctest.Env, _ *acctest.Workspace) {
	t.Helper()
	if err := env.AddFault(simulator.Fault{Method: "DELETE", Path: "/instances", Status: 403}); err != nil {
		t.Fatal(err)
	}
}
