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

const one = "data.gpurent_instance.one"

// lookUp is a look-up of one server.
func lookUp(arguments ...string) string {
	return "data \"gpurent_instance\" \"one\" {\n  " + strings.Join(arguments, "\n  ") + "\n}\n"
}

func byID(id string) string { return lookUp(fmt.Sprintf("id = %q", id)) }

func byName(name string) string { return lookUp(fmt.Sprintf("name = %q", name)) }

func isOne(path string, value knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(one, tfjsonpath.New(path), value)
}

// rent rents a server behind Terraform's back for each name, "" for none, and waits
// until they run.
func rent(env *acctest.Env, names ...string) (ids []string) {
	free := env.Offers("limit=200")
	for i, name := range names {
		named := ""
		if name != "" {
			named = fmt.Sprintf(`"name":%q,`, name)
		}
		ids = append(ids, env.Post("instances", fmt.Sprintf(`{%s"offer_id":%q,"template":"pytorch","disk_gb":60}`, named, free[i].ID)))
	}
	env.Advance(time.Minute)
	env.ClearRequests()
	return ids
}

// still makes time pass only when a test says so: what servers cost would make every
// plan another one.
func still(c *simulator.Config) { c.Step = 0 }

func TestAccInstanceDataSource_byIDAndByName(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test asserts each field.
	env := acctest.Start(t, still, acctest.WithoutQuirks("optional-fields-absent"))
	ids := rent(env, "shared", "", "Обучение 🚀")
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
				Config: env.Config(byName("shared")),
				ConfigStateChecks: []statecheck.StateCheck{
					isOne("id", exactly(ids[0])), isOne("status", exactly("running")), isOne("desired_state", exactly("running")), isOne("type", exactly("on_demand")),
					isOne("gpu", knownvalue.ObjectExact(map[string]knownvalue.Check{"slug": text, "name": text, "count": number, "vram_gb": number})),
					isOne("template", knownvalue.ObjectExact(map[string]knownvalue.Check{"slug": exactly("pytorch"), "name": exactly("PyTorch 2.5")})),
					isOne("image", knownvalue.StringRegexp(regexp.MustCompile(`\bpytorch/pytorch:`))), isOne("disk_gb", knownvalue.Int64Exact(60)), isOne("country", text),
					isOne("price", knownvalue.ObjectExact(map[string]knownvalue.Check{"running_kop_h": number, "stopped_kop_h": number, "traffic_kop_gb": number})),
					isOne("cost_so_far_kop", positive),
					isOne("ssh", knownvalue.ObjectExact(map[string]knownvalue.Check{"host": text, "port": number, "user": text, "command": text})),
					isOne("urls", knownvalue.ListExact([]knownvalue.Check{knownvalue.ObjectExact(map[string]knownvalue.Check{"label": exactly("TensorBoard"), "url": text})})),
					isOne("created_at", knownvalue.StringRegexp(regexp.MustCompile(`Z$`))), isOne("started_at", knownvalue.StringRegexp(regexp.MustCompile(`Z$`))), isOne("stop_reason", knownvalue.Null()),
				},
			},
			{Config: env.Config(byID(ids[1])), ConfigStateChecks: []statecheck.StateCheck{isOne("name", knownvalue.Null()), isOne("status", exactly("running"))}},
			{Config: env.Config(byName("Обучение 🚀")), ConfigStateChecks: []statecheck.StateCheck{isOne("id", exactly(ids[2]))}},
			{
				// Destroyed: known by its id, not by its name.
				PreConfig:         func() { env.Delete("instances/" + ids[0]); env.Advance(time.Minute) },
				Config:            env.Config(byID(ids[0])),
				ConfigStateChecks: []statecheck.StateCheck{isOne("status", exactly("destroyed")), isOne("name", exactly("shared")), isOne("ssh", knownvalue.Null())},
			},
			{Config: env.Config(byName("shared")), ExpectError: regexp.MustCompile(`(?s)No instance with name "shared".*read by\s+its\s+id\s+only`)},
		},
	})
}

func TestAccInstanceDataSource_saysWhatThereIs(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The messages contain names and times that may be absent, and a limited number of servers.
	env := acctest.Start(t, acctest.WithoutQuirks("optional-fields-absent", "strange-neighbours"))
	ids := rent(env, "trainer", "trainer", "worker", "", "Обучение", "ending")
	if err := env.SetInstance(ids[5], simulator.InstancePatch{Status: new("destroying"), DesiredState: new("destroyed")}); err != nil {
		t.Fatal(err)
	}
	w := env.Workspace("")
	says := func(config string, wants ...string) {
		t.Helper()
		w.Configure(env.Config(config))
		output, err := w.Try("plan", "-no-color")
		words := acctest.Words(strings.ReplaceAll(output, "│", ""))
		for _, want := range wants {
			if err == nil || !regexp.MustCompile(want).MatchString(words) {
				t.Errorf("%v, and it does not say %s:\n%s", err, want, output)
			}
		}
	}
	says(byName("trainor"), `No instance with name "trainor"`, `Existing: .*ins_\w+ \("trainer"\).*ins_\w+ \("trainer"\)`, `\("Обучение"\)`, ids[3]+`[,.]`)
	says(byName("trainer"), `Several instances are named "trainer"`, `Set id instead of name: `, ids[0]+` \(running, created 2\S+Z\)`, ids[1]+` \(running, created 2\S+Z\)`)
	says(byName("ending"), `No instance with name "ending"`)
	says(byName(ids[2]), `It is the id of one: set id instead of name`)
	says(byID("ins_none"), `No instance with id "ins_none"`, `Existing: `, ids[2]+` \("worker"\)`)
	says(byID("worker"), `It is the name of one: set name instead of id`)
}

// However many servers are looked for: a listing, and one request before it. The
// refresh of a resource and the other data sources use the same.
func TestAccInstanceDataSource_sharesRequests(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test counts requests, and looks for names that may be absent.
	env := acctest.Start(t, acctest.WithoutQuirks("small-pages", "gateway-errors", "optional-fields-absent"))
	var names []string
	for i := range 10 {
		names = append(names, fmt.Sprintf("gpu-%d", i))
	}
	ids := rent(env, names...)
	byNames := fmt.Sprintf("data \"gpurent_instance\" \"names\" {\n  for_each = toset([\"%s\"])\n  name = each.key\n}\n", strings.Join(names, `", "`))
	byIDs := fmt.Sprintf("data \"gpurent_instance\" \"ids\" {\n  for_each = toset([\"%s\"])\n  id = each.key\n}\n", strings.Join(ids, `", "`))
	lists := "data \"gpurent_instances\" \"all\" {}\ndata \"gpurent_instances\" \"some\" {\n  name_prefix = \"gpu\"\n}\n"
	w := env.Workspace("")
	for _, test := range []struct {
		config string
		most   int
	}{{byID(ids[3]), 1}, {byName("gpu-3"), 1}, {byNames, 1}, {byIDs, 2}, {byNames + byIDs + lists, 2}} {
		w.Configure(env.Config(test.config))
		env.ClearRequests()
		w.Run("plan")
		if made := env.Requests(); len(made) > test.most {
			t.Errorf("%d requests, want %d, for %s: %v", len(made), test.most, test.config, made)
		}
	}
}

// A server that the same apply has rented is seen as that left it.
func TestAccInstanceDataSource_seesWhatTheApplyHasDone(t *testing.T) {
	// The test counts servers, and looks for names that may be absent.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours", "optional-fields-absent"))
	rent(env, "another")
	config := env.Config(byName("another"), strings.Replace(server(`name = "mine"`), "gpurent_offers\" \"test\" {", "gpurent_offers\" \"test\" {\n  max_results = 1", 1), `
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
			ConfigStateChecks: append(append(mine("data.gpurent_instance.mine"), mine("data.gpurent_instance.named")...),
				statecheck.ExpectKnownValue("data.gpurent_instances.all", tfjsonpath.New("instances"), knownvalue.ListSizeExact(2))),
		}},
	})
}

func TestAccInstanceDataSource_badInputIsRefusedBeforeAnyRequest(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	env.Refuses(t, [][2]string{
		{lookUp(), `(?i)exactly\s+one|one\s+\(and\s+only`},
		{lookUp(`id = "ins_1"`, `name = "trainer"`), `(?i)exactly\s+one|one\s+\(and\s+only`},
		{byID(""), `at\s+least\s+1`},
		{byName(""), `at\s+least\s+1`},
		{`data "gpurent_instances" "all" { status = "running" }`, `value\s+must\s+be\s+one\s+of`},
		{`data "gpurent_instances" "all" { name_prefix = "" }`, `at\s+least\s+1`},
		{`data "gpurent_instance_logs" "all" {}`, `"instance_id" is required`},
		{`data "gpurent_instance_logs" "all" { instance_id = "" }`, `at\s+least\s+1`},
		{"data \"gpurent_instance_logs\" \"all\" {\n  instance_id = \"ins_1\"\n  tail = 0\n}\n", `between\s+1\s+and\s+1000`},
		{"data \"gpurent_instance_logs\" \"all\" {\n  instance_id = \"ins_1\"\n  tail = 1001\n}\n", `between\s+1\s+and\s+1000`},
	})
}

func TestAccInstanceDataSources_needAKeyWithTheScope(t *testing.T) {
	acctest.FirstCLIOnly(t)
	acctest.Start(t).NeedsScope(t, "user:read", `lacks\s+the\s+scope\s+instances:read`,
		byID("ins_1"), byName("trainer"), `data "gpurent_instances" "all" {}`, `data "gpurent_instance_logs" "all" { instance_id = "ins_1" }`)
}
