package instance_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// park rents servers by hand: one that runs, one that is stopped, one without a name
// that has failed, and one that is destroyed. It returns their ids.
func park(t *testing.T, env *acctest.Env) (running, stopped, unnamed string) {
	t.Helper()
	offers := env.Offers("num_gpus=1&gpu=rtx_4090")
	if len(offers) < 4 {
		t.Fatalf("only %d offers", len(offers))
	}
	rent := func(n int, template, more string) string {
		return env.Post("instances", fmt.Sprintf(`{"offer_id":%q,"template":%q,"disk_gb":60%s}`, offers[n].ID, template, more))
	}
	// The end of the second name is a letter in two parts, which configurations hold as one.
	running, stopped = rent(0, "pytorch", `,"name":"by-hand"`), rent(1, "pytorch", `,"name":"by-hand-и\u0306"`)
	unnamed, gone := rent(2, "ubuntu", ""), rent(3, "pytorch", `,"name":"by-hand-3"`)
	env.Advance(time.Minute)
	env.Post("instances/"+stopped+"/stop", "")
	env.Delete("instances/" + gone)
	env.Advance(time.Minute)
	return running, stopped, unnamed
}

// query is a list block with arguments of the query and of the provider.
func query(outer, inner string) string {
	return fmt.Sprintf("list \"gpurent_instance\" \"hunt\" {\n  provider = gpurent\n  %s\n  config {\n    %s\n  }\n}\n", outer, inner)
}

const hunt = "list.gpurent_instance.hunt"

func TestInstanceList_findsWhatWasRentedByHand(t *testing.T) {
	env := acctest.Start(t)
	findsWhatWasRentedByHand(t, env, env.Protocol())
}

func TestAccInstanceList_findsWhatWasRentedByHand(t *testing.T) {
	acctest.Needs(t, "1.14.0", "")
	env := acctest.Start(t)
	w := env.Workspace(env.Provider())
	findsWhatWasRentedByHand(t, env, w)
}

func findsWhatWasRentedByHand(t *testing.T, env *acctest.Env, cli acctest.Querier) {
	running, stopped, unnamed := park(t, env)
	for name, test := range map[string]struct {
		outer, inner string
		want         []string
	}{
		"all that is billed":   {"", "", []string{running, stopped, unnamed}},
		"by name":              {"", `name_prefix = "by-hand"`, []string{running, stopped}},
		"by a name of nobody":  {"", `name_prefix = "by hand"`, nil},
		"by a name composed":   {"", `name_prefix = "by-hand-й"`, []string{stopped}},
		"by state":             {"", `status = ["stopped", "failed"]`, []string{stopped}},
		"by template":          {"", `template = "ubuntu"`, []string{unnamed}},
		"by all of it":         {"", "name_prefix = \"by\"\n    status = [\"running\"]\n    template = \"pytorch\"", []string{running}},
		"no more than is said": {"limit = 2", "", []string{running, stopped, unnamed}[:2]},
	} {
		found, err := cli.Found(query(test.outer, test.inner), hunt)
		ids := map[string]bool{}
		for _, f := range found {
			ids[fmt.Sprint(f.Identity["id"])] = true
			if f.Resource != nil {
				t.Errorf("%s: a resource was told that was not asked for", name)
			}
		}
		ok := err == nil && len(ids) == len(test.want) && len(found) == len(test.want)
		for _, id := range test.want {
			ok = ok && (ids[id] || test.outer != "") // which ones a limit leaves out is the service's choice
		}
		if !ok {
			t.Errorf("%s: %v, %v, want %v", name, ids, err, test.want)
		}
	}
}

// An orphan hunt: what somebody has rented by hand is found, told apart, and taken
// over as it is.
func TestInstanceList_whatIsFoundIsAdoptedAsItIs(t *testing.T) {
	env := acctest.Start(t)
	park(t, env)
	cli := env.Protocol()
	found, err := cli.Found(query("include_resource = true", ""), hunt)
	if err != nil || len(found) != 3 {
		t.Fatalf("%d found, %v", len(found), err)
	}
	for _, f := range found {
		adopted, diags := cli.Adopt("", f)
		if acctest.Failed(diags) || len(adopted.Changes) > 0 {
			t.Errorf("%s: the plan changes %v: %s", f.Name, adopted.Changes, acctest.Said(diags))
		}
		for _, same := range []string{"id", "status", "offer_query", "on_outbid", "price", "ssh", "timeouts"} {
			if fmt.Sprint(f.Resource[same]) != fmt.Sprint(adopted.State[same]) {
				t.Errorf("%s: %s is %v in the list and %v after the import", f.Name, same, f.Resource[same], adopted.State[same])
			}
		}
		if shown := f.Name; !strings.Contains(shown, "1 × ") || !strings.Contains(shown, " per hour") || !strings.Contains(shown, fmt.Sprint(f.Resource["status"])) {
			t.Errorf("%q does not tell what it is and costs", shown)
		}
	}
	if n := env.CountRequests("POST", "/instances") + env.CountRequests("PATCH", "/instances"); n != 5 {
		t.Errorf("%d requests that change something, want only the test's own", n)
	}
}

// The same as a person does it.
func TestAccInstanceList_orphanHunt(t *testing.T) {
	acctest.Needs(t, "1.14.0", "")
	env := acctest.Start(t)
	w := env.Workspace(env.Provider())
	park(t, env)
	if _, err := w.Found(env.Read("list-resources/gpurent_instance/list-resource.tfquery.hcl"), "list.gpurent_instance.running"); err != nil {
		t.Fatal(err)
	}
	w.Run("query", "-no-color", "-generate-config-out=found.tf")
	if plan := w.Run("plan", "-no-color"); !strings.Contains(plan, "2 to import, 0 to add, 0 to change, 0 to destroy") {
		t.Fatalf("the plan after the hunt:\n%s\n%s", plan, w.Read("found.tf"))
	}
	w.Run("apply", "-no-color", "-auto-approve")
	w.Run("plan", "-no-color", "-detailed-exitcode")
}

func TestInstanceList_exampleFindsWhatRuns(t *testing.T) {
	env := acctest.Start(t)
	running, _, _ := park(t, env)
	found, err := env.Protocol().Found(env.Example("list-resources/gpurent_instance/list-resource.tfquery.hcl"), "list.gpurent_instance.running")
	if err != nil || len(found) != 2 || found[0].Resource == nil {
		t.Errorf("%v, %v; want %s and the unnamed one", found, err, running)
	}
}

func TestInstanceList_badInputIsRefusedBeforeAnyRequest(t *testing.T) {
	env := acctest.Start(t)
	for inner, want := range map[string]string{
		`status = ["destroyed"]`: "value must be one of",
		`status = []`:            "at least 1",
		`name_prefix = ""`:       "at least 1",
		`template = ""`:          "at least 1",
	} {
		if _, err := env.Protocol().Found(query("", inner), hunt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", inner, err, want)
		}
	}
	if n := len(env.Requests()); n != 0 {
		t.Errorf("%d requests were made, want none", n)
	}
}

func TestInstanceList_tellsWhatAKeyLacks(t *testing.T) {
	env := acctest.Start(t)
	narrow := env.Secret(`{"name":"narrow","scopes":["user:read"]}`)
	for provider, want := range map[string]string{
		env.ProviderWithKey(narrow): "lacks the scope instances:read",
		env.ProviderWithoutKey():    "Missing API key",
	} {
		if _, err := env.Protocol().Found(provider+query("", ""), hunt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
