package instance_test

import (
	"fmt"
	"regexp"
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

const instanceData = "data.gpurent_instance.one"

// dataSource is a configuration that reads one instance.
func dataSource(arguments ...string) string {
	return "data \"gpurent_instance\" \"one\" {\n  " + strings.Join(arguments, "\n  ") + "\n}\n"
}

func dataSourceByID(id string) string { return dataSource(fmt.Sprintf("id = %q", id)) }

func dataSourceByName(name string) string { return dataSource(fmt.Sprintf("name = %q", name)) }

func dataSourceIs(path string, value knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(instanceData, tfjsonpath.New(path), value)
}

func TestAccInstanceDataSource_basic(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test asserts each field.
	env := acctest.Start(t, stopClock, acctest.WithoutQuirks("optional-fields-absent"))
	ids := createInstances(env, "shared", "", "Обучение 🚀")
	env.Advance(10 * time.Hour)
	text, number, exactly := knownvalue.StringRegexp(regexp.MustCompile(`.`)), knownvalue.NotNull(), knownvalue.StringExact
	positive := knownvalue.Int64Func(func(kop int64) error {
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
				Config: env.Config(dataSourceByName("shared")),
				ConfigStateChecks: []statecheck.StateCheck{
					dataSourceIs(
						"id",
						exactly(ids[0]),
					),
					dataSourceIs("status", exactly("running")),
					dataSourceIs("desired_state", exactly("running")),
					dataSourceIs("type", exactly("on_demand")),
					dataSourceIs(
						"gpu",
						knownvalue.ObjectExact(
							map[string]knownvalue.Check{"slug": text, "name": text, "count": number, "vram_gb": number},
						),
					),
					dataSourceIs(
						"template",
						knownvalue.ObjectExact(map[string]knownvalue.Check{"slug": exactly("pytorch"), "name": exactly("PyTorch 2.5")}),
					),
					dataSourceIs(
						"image",
						knownvalue.StringRegexp(regexp.MustCompile(`\bpytorch/pytorch:`)),
					),
					dataSourceIs("disk_gb", knownvalue.Int64Exact(60)),
					dataSourceIs("country", text),
					dataSourceIs(
						"price",
						knownvalue.ObjectExact(
							map[string]knownvalue.Check{"running_kop_h": number, "stopped_kop_h": number, "traffic_kop_gb": number},
						),
					),
					dataSourceIs("cost_so_far_kop", positive),
					dataSourceIs(
						"ssh",
						knownvalue.ObjectExact(map[string]knownvalue.Check{"host": text, "port": number, "user": text, "command": text}),
					),
					dataSourceIs(
						"urls",
						knownvalue.ListExact(
							[]knownvalue.Check{
								knownvalue.ObjectExact(map[string]knownvalue.Check{"label": exactly("TensorBoard"), "url": text}),
							},
						),
					),
					dataSourceIs(
						"created_at",
						knownvalue.StringRegexp(regexp.MustCompile(`Z$`)),
					),
					dataSourceIs("started_at", knownvalue.StringRegexp(regexp.MustCompile(`Z$`))),
					dataSourceIs("stop_reason", knownvalue.Null()),
				},
			},
			{
				Config: env.Config(dataSourceByID(ids[1])),
				ConfigStateChecks: []statecheck.StateCheck{
					dataSourceIs("name", knownvalue.Null()),
					dataSourceIs("status", exactly("running")),
				},
			},
			{
				Config:            env.Config(dataSourceByName("Обучение 🚀")),
				ConfigStateChecks: []statecheck.StateCheck{dataSourceIs("id", exactly(ids[2]))},
			},
			{
				// A destroyed instance is found by its id, not by its name.
				PreConfig: func() { env.Delete("instances/" + ids[0]); env.Advance(time.Minute) },
				Config:    env.Config(dataSourceByID(ids[0])),
				ConfigStateChecks: []statecheck.StateCheck{
					dataSourceIs("status", exactly("destroyed")),
					dataSourceIs("name", exactly("shared")),
					dataSourceIs("ssh", knownvalue.Null()),
				},
			},
			{
				Config:      env.Config(dataSourceByName("shared")),
				ExpectError: regexp.MustCompile(`(?s)No instance with this name.*Existing`),
			},
		},
	})
}

func TestAccInstanceDataSource_notFound(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The messages contain names and times that may be absent, and a limited number of servers.
	env := acctest.Start(t, acctest.WithoutQuirks("optional-fields-absent", "strange-neighbours"))
	ids := createInstances(env, "trainer", "trainer", "worker", "", "Обучение", "ending")
	err := env.SetInstance(ids[5], simulator.InstancePatch{Status: new("destroying"), DesiredState: new("destroyed")})
	if err != nil {
		t.Fatal(err)
	}
	w := env.Workspace("")
	says := func(config string, wants ...string) {
		t.Helper()
		w.Configure(env.Config(config))
		output, err := w.Try("plan", "-no-color")
		words := acctest.WithoutFrame(output)
		for _, want := range wants {
			if err == nil || !regexp.MustCompile(want).MatchString(words) {
				t.Errorf("%v, no %s in:\n%s", err, want, output)
			}
		}
	}
	says(
		dataSourceByName("trainor"),
		`No instance with this name`,
		`Existing: .*ins_\w+ \("trainer"\).*ins_\w+ \("trainer"\)`,
		`\("Обучение"\)`,
		ids[3]+`[,.]`,
	)
	says(
		dataSourceByName("trainer"),
		`Several instances have this name`,
		`Set id instead of name, or delete what you do not need: `,
		ids[0]+` \("trainer"\): running, created 2\S+Z`,
		ids[1]+` \("trainer"\): running, created 2\S+Z`,
	)
	says(dataSourceByName("ending"), `No instance with this name`)
	says(dataSourceByID("ins_none"), `No instance with this id`, `Existing: `, ids[2]+` \("worker"\)`)
}

// One listing and one request before it serve any number of data sources and the refresh of the resources.
func TestAccInstanceDataSource_sharesRequests(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test counts requests and searches for names, which may be null.
	env := acctest.Start(t, acctest.WithoutQuirks("small-pages", "gateway-errors", "optional-fields-absent"))
	var names []string
	for i := range 10 {
		names = append(names, fmt.Sprintf("gpu-%d", i))
	}
	ids := createInstances(env, names...)
	byNames := fmt.Sprintf(
		"data \"gpurent_instance\" \"names\" {\n  for_each = toset([\"%s\"])\n  name = each.key\n}\n",
		strings.Join(names, `", "`),
	)
	byIDs := fmt.Sprintf(
		"data \"gpurent_instance\" \"ids\" {\n  for_each = toset([\"%s\"])\n  id = each.key\n}\n",
		strings.Join(ids, `", "`),
	)
	lists := "data \"gpurent_instances\" \"all\" {}\ndata \"gpurent_instances\" \"some\" {\n  name_prefix = \"gpu\"\n}\n"
	w := env.Workspace("")
	for _, test := range []struct {
		config string
		most   int
	}{
		{dataSourceByID(ids[3]), 1}, {dataSourceByName("gpu-3"), 1}, {byNames, 1}, {byIDs, 2},
		{byNames + byIDs + lists, 2},
	} {
		w.Configure(env.Config(test.config))
		env.ClearRequests()
		w.Run("plan")
		if made := env.Requests(); len(made) > test.most {
			t.Errorf("%d requests, want %d, for %s: %v", len(made), test.most, test.config, made)
		}
	}
}

// A data source returns an instance of the same apply as the apply left it.
func TestAccInstanceDataSource_createdInSameApply(t *testing.T) {
	// The test counts instances and searches for names, which may be null.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours", "optional-fields-absent"))
	createInstances(env, "another")
	config := env.Config(
		dataSourceByName("another"),
		strings.Replace(
			configByOffer(`name = "mine"`),
			"gpurent_offers\" \"test\" {",
			"gpurent_offers\" \"test\" {\n  max_results = 1",
			1,
		),
		`
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
`,
	)
	mine := func(address string) []statecheck.StateCheck {
		return []statecheck.StateCheck{
			statecheck.ExpectKnownValue(address, tfjsonpath.New("status"), knownvalue.StringExact("running")),
			statecheck.ExpectKnownValue(address, tfjsonpath.New("ssh"), knownvalue.NotNull()),
		}
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: config,
			ConfigStateChecks: append(
				append(mine("data.gpurent_instance.mine"), mine("data.gpurent_instance.named")...),
				statecheck.ExpectKnownValue(
					"data.gpurent_instances.all",
					tfjsonpath.New("instances"),
					knownvalue.ListSizeExact(2),
				),
			),
		}},
	})
}

func TestAccInstanceDataSource_invalidArguments(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	env.Refuses(t, [][2]string{
		{dataSource(), `(?i)exactly\s+one|one\s+\(and\s+only`},
		{dataSource(`id = "ins_1"`, `name = "trainer"`), `(?i)exactly\s+one|one\s+\(and\s+only`},
		{dataSourceByID(""), `at\s+least\s+1`},
		{dataSourceByName(""), `at\s+least\s+1`},
		{`data "gpurent_instances" "all" { status = "running" }`, `value\s+must\s+be\s+one\s+of`},
		{`data "gpurent_instances" "all" { name_prefix = "" }`, `at\s+least\s+1`},
		{`data "gpurent_instance_logs" "all" {}`, `"instance_id" is required`},
		{`data "gpurent_instance_logs" "all" { instance_id = "" }`, `at\s+least\s+1`},
		{"data \"gpurent_instance_logs\" \"all\" {\n  instance_id = \"ins_1\"\n  tail = 0\n}\n", `between\s+1\s+and\s+1000`},
		{
			"data \"gpurent_instance_logs\" \"all\" {\n  instance_id = \"ins_1\"\n  tail = 1001\n}\n",
			`between\s+1\s+and\s+1000`,
		},
	})
}

func TestAccInstanceDataSource_missingScope(t *testing.T) {
	acctest.FirstCLIOnly(t)
	acctest.Start(t).NeedsScope(
		t,
		"user:read",
		`lacks\s+the\s+scope\s+instances:read`,
		dataSourceByID(
			"ins_1",
		),
		dataSourceByName("trainer"),
		`data "gpurent_instances" "all" {}`,
		`data "gpurent_instance_logs" "all" { instance_id = "ins_1" }`,
	)
}
