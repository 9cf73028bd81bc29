package instance_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const (
	dataAddress      = "data.gpurent_instance.one"
	instancesAddress = "data.gpurent_instances.all"
	logsAddress      = "data.gpurent_instance_logs.end"
)

// dataSource returns a data source for one instance by its id or name.
func dataSource(argument, value string) string {
	return fmt.Sprintf("data \"gpurent_instance\" \"one\" {\n  %s = %q\n}\n", argument, value)
}

func logsDataSource(id, arguments string) string {
	return fmt.Sprintf("data \"gpurent_instance_logs\" \"end\" {\n  instance_id = %q\n  %s\n}\n", id, arguments)
}

func TestAccInstanceDataSource_basic(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test asserts each field.
	env := acctest.Start(t, stopClock, acctest.WithoutQuirks("optional-fields-absent", "strange-neighbours"))
	ids := createInstances(env, "shared", "", "Обучение 🚀")
	env.Advance(10 * time.Hour)
	text, number, exactly := knownvalue.StringRegexp(regexp.MustCompile(`.`)), knownvalue.NotNull(), knownvalue.StringExact
	time3339 := knownvalue.StringRegexp(regexp.MustCompile(`Z$`))
	type fields = map[string]knownvalue.Check
	is := func(all fields) (checks []statecheck.StateCheck) {
		for path, value := range all {
			checks = append(checks, statecheck.ExpectKnownValue(dataAddress, tfjsonpath.New(path), value))
		}
		return checks
	}
	tensorBoard := knownvalue.ObjectExact(fields{"label": exactly("TensorBoard"), "url": text})
	moreThan := knownvalue.Int64Func(func(kop int64) error {
		if kop < 1000 {
			return fmt.Errorf("ten hours cost %d kopecks", kop)
		}
		return nil
	})
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example("data-sources/gpurent_instance/data-source.tf"),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownOutputValue("ssh", knownvalue.StringRegexp(regexp.MustCompile(`^ssh `))),
					statecheck.ExpectKnownOutputValue("rubles_so_far", knownvalue.NotNull()),
				},
			},
			{
				Config: env.Config(dataSource("name", "shared")),
				ConfigStateChecks: is(fields{
					"id": exactly(ids[0]), "status": exactly("running"), "desired_state": exactly("running"),
					"type": exactly("on_demand"), "disk_gb": knownvalue.Int64Exact(60), "country": text,
					"gpu":      knownvalue.ObjectExact(fields{"slug": text, "name": text, "count": number, "vram_gb": number}),
					"template": knownvalue.ObjectExact(fields{"slug": exactly("pytorch"), "name": exactly("PyTorch 2.5")}),
					"image":    knownvalue.StringRegexp(regexp.MustCompile(`\bpytorch/pytorch:`)),
					"price": knownvalue.ObjectExact(
						fields{"running_kop_h": number, "stopped_kop_h": number, "traffic_kop_gb": number}),
					"cost_so_far_kop": moreThan,
					"ssh":             knownvalue.ObjectExact(fields{"host": text, "port": number, "user": text, "command": text}),
					"urls":            knownvalue.ListExact([]knownvalue.Check{tensorBoard}),
					"created_at":      time3339, "started_at": time3339, "stop_reason": knownvalue.Null(),
				}),
			},
			{
				Config:            env.Config(dataSource("id", ids[1])),
				ConfigStateChecks: is(fields{"name": knownvalue.Null(), "status": exactly("running")}),
			},
			{
				Config:            env.Config(dataSource("name", "Обучение 🚀")),
				ConfigStateChecks: is(fields{"id": exactly(ids[2])}),
			},
			{
				// A destroyed instance is found by its id, not by its name.
				PreConfig: func() { env.Delete("instances/" + ids[0]); env.Advance(time.Minute) },
				Config:    env.Config(dataSource("id", ids[0])),
				ConfigStateChecks: is(fields{
					"status": exactly("destroyed"), "name": exactly("shared"), "ssh": noSSH,
				}),
			},
			{
				PreConfig:   func() { setStatus(t, env, createInstances(env, "shared")[0], "destroying", "destroyed") },
				Config:      env.Config(dataSource("name", "shared")),
				ExpectError: regexp.MustCompile(`No instance with this name`),
			},
			{
				Config:      env.Config(dataSource("id", "ins_none")),
				ExpectError: regexp.MustCompile(`No instance with this id`),
			},
			{
				// Two instances of one name.
				PreConfig:   func() { createInstances(env, "Обучение 🚀") },
				Config:      env.Config(dataSource("name", "Обучение 🚀")),
				ExpectError: regexp.MustCompile(`(?s)Several instances have this name.*\(running,\s+created\s+2`),
			},
		},
	})
}

// A data source returns an instance of the same apply as the apply left it.
func TestAccInstanceDataSource_createdInSameApply(t *testing.T) {
	// The test counts instances and searches for names, which may be null.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours", "optional-fields-absent"))
	createInstances(env, "another")
	config := env.Config(dataSource("name", "another"), configByQuery(`{}`, `name = "mine"`), `
data "gpurent_instance" "mine" {
  id = gpurent_instance.trainer.id
}
data "gpurent_instance" "named" {
  name       = "mine"
  depends_on = [gpurent_instance.trainer]
}
data "gpurent_instances" "all" {
  depends_on = [gpurent_instance.trainer]
}
`)
	checks := []statecheck.StateCheck{
		statecheck.ExpectKnownValue(instancesAddress, tfjsonpath.New("instances"), knownvalue.ListSizeExact(2)),
	}
	for _, address := range []string{"data.gpurent_instance.mine", "data.gpurent_instance.named"} {
		checks = append(checks,
			statecheck.ExpectKnownValue(address, tfjsonpath.New("status"), knownvalue.StringExact("running")),
			statecheck.ExpectKnownValue(address, tfjsonpath.New("ssh"), knownvalue.NotNull()))
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps:                    []resource.TestStep{{Config: config, ConfigStateChecks: checks}},
	})
}

func TestAccInstanceDataSource_missingScope(t *testing.T) {
	acctest.FirstCLIOnly(t)
	acctest.Start(t).NeedsScope(t, "user:read", `lacks\s+the\s+scope\s+instances:read`,
		dataSource("id", "ins_1"), `data "gpurent_instances" "all" {}`, logsDataSource("ins_1", ""))
}

func TestAccInstancesDataSource_filters(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test asserts the whole list, and sums up a field that may be absent.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours", "optional-fields-absent"), stopClock)
	all := []string{"research-1", "", "Research-2", "research-3", "Обучение-1"}
	ids := createInstances(env, all...)
	setStatus(t, env, ids[3], "stopped", "stopped")
	// names checks the names of a list, which is sorted by the ids.
	names := func(indexes ...int) []statecheck.StateCheck {
		want := map[string]knownvalue.Check{}
		for _, i := range indexes {
			name := knownvalue.StringExact(all[i])
			if want[ids[i]] = knownvalue.ObjectPartial(map[string]knownvalue.Check{"name": name}); all[i] == "" {
				want[ids[i]] = knownvalue.ObjectPartial(map[string]knownvalue.Check{"name": knownvalue.Null()})
			}
		}
		var checks []knownvalue.Check
		for _, id := range slices.Sorted(maps.Keys(want)) {
			checks = append(checks, want[id])
		}
		list := knownvalue.ListExact(checks)
		return []statecheck.StateCheck{statecheck.ExpectKnownValue(instancesAddress, tfjsonpath.New("instances"), list)}
	}
	list := func(arguments string) string {
		return env.Config("data \"gpurent_instances\" \"all\" {\n  " + arguments + "\n}\n")
	}
	running := knownvalue.TupleExact([]knownvalue.Check{knownvalue.StringExact("research-1")})
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config:            env.Example("data-sources/gpurent_instances/data-source.tf"),
				ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownOutputValue("running", running)},
			},
			{Config: list(""), ConfigStateChecks: names(0, 1, 2, 3, 4)},
			{Config: list(`name_prefix = "research-"`), ConfigStateChecks: names(0, 3)},
			{Config: list(`name_prefix = "Обуч"`), ConfigStateChecks: names(4)},
			{
				PreConfig: func() { env.Delete("instances/" + ids[0]); env.Advance(time.Minute) },
				Config:    list(`status = "active"`), ConfigStateChecks: names(1, 2, 3, 4),
			},
			{Config: list("status = \"all\"\n  name_prefix = \"research\""), ConfigStateChecks: names(0, 3)},
		},
	})
}

func TestAccInstanceLogsDataSource_basic(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	id := createInstances(env, "shared")[0]
	var all []knownvalue.Check
	for _, line := range acctest.Fetch[struct{ Lines []string }](env, "instances/"+id+"/logs").Lines {
		all = append(all, knownvalue.StringExact(line))
	}
	if len(all) < 3 {
		t.Fatalf("a log of %d lines is too short for this test", len(all))
	}
	lines := func(want ...knownvalue.Check) []statecheck.StateCheck {
		return []statecheck.StateCheck{
			statecheck.ExpectKnownValue(logsAddress, tfjsonpath.New("lines"), knownvalue.ListExact(want)),
		}
	}
	output := knownvalue.StringRegexp(regexp.MustCompile(`Z .+\n.+`))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config:            env.Example("data-sources/gpurent_instance_logs/data-source.tf"),
				ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownOutputValue("log", output)},
			},
			{Config: env.Config(logsDataSource(id, "")), ConfigStateChecks: lines(all...)},
			{Config: env.Config(logsDataSource(id, "tail = 2")), ConfigStateChecks: lines(all[len(all)-2:]...)},
			{
				PreConfig: func() {
					must(t, env.AddFault(simulator.Fault{Method: "GET", Path: "/instances/{id}/logs", Status: 503}))
				},
				Config:      configWithoutRetries(env, logsDataSource(id, "")),
				ExpectError: regexp.MustCompile(`(?s)Cannot read the log of instance.*provider_unavailable.*Run\s+again\s+later`),
			},
			{
				PreConfig:   env.ClearFaults,
				Config:      env.Config(logsDataSource("ins_none", "")),
				ExpectError: regexp.MustCompile(`(?s)Cannot read the log of instance.*not_found.*does\s+not\s+exist`),
			},
		},
	})
	if !strings.Contains(fmt.Sprint(env.Requests()), "tail=2") {
		t.Error("no request has the number of lines")
	}
}
