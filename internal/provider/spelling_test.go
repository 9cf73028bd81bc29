package provider_test

import (
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"pgregory.net/rapid"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// init sets the default of -rapid.checks, the number of random configurations of each resource.
func init() {
	if err := flag.Set("rapid.checks", "15"); err != nil {
		panic(err)
	}
}

// legal are two different values of each argument of the resources that the API cannot change.
var legal = map[string]map[string][2]any{
	"gpurent_template": {
		"name": {"Trainer", "Обучение"}, "image": {"ubuntu:24.04", "registry.example:5000/team/app:1.2"},
		"description": {"one\r\ntwo \r\n", " Notebook"}, "launch_mode": {"entrypoint", "jupyter"},
		"ports":       {[]any{int64(8888)}, []any{int64(22), int64(6006)}},
		"env":         {map[string]any{"A": " b\r\n"}, map[string]any{"A": "", "B": "c"}},
		"onstart":     {"#!/bin/sh\r\nrun\r\n", "  run"},
		"min_disk_gb": {int64(35), int64(47)}, "recommended_disk_gb": {int64(51), int64(99)},
	},
	"gpurent_ssh_key": {"name": {" Anna's laptop", "CI"}, "public_key": {sampleKey, otherSampleKey}},
	"gpurent_api_key": {
		"name": {" Pipeline", "CI"}, "scopes": {[]any{"user:write"}, []any{"user:read", "instances:write"}},
		"expires_in_days": {int64(30), int64(365)},
	},
}

const otherSampleKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKJLu/BJj6IuH3Ssli37zXUHMHdBfD153tGyfACAryQ8"

// inPlace are the arguments that the API does not have.
var inPlace = []string{"rotate_before_days"}

// Whatever the API returns for the fields of an object that it cannot change, the state keeps the configured values,
// and the same configuration is no change. Another configured value replaces the object.
func TestUnchangeable_OnlyTheConfigurationReplaces(t *testing.T) {
	t.Parallel()
	for kind, path := range collections {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var seed atomic.Uint64
			env := acctest.Start(t, acctest.Intercept(acctest.Request("", path).Do(respell(&seed))))
			schema := configured(t, arguments(env)).ResourceSchemas[kind].Block.Attributes
			rapid.Check(t, func(rt *rapid.T) {
				config := drawArguments(rt, kind, schema)
				seed.Store(rapid.Uint64().Draw(rt, "spelling"))
				created, diags := configured(t, arguments(env)).create(kind, config)
				if created.State.IsNull() || len(diags) > 0 {
					rt.Fatal(texts(diags))
				}
				defer env.Delete(strings.TrimPrefix(path, "/") + "/" + created.Text("id"))
				for range 2 {
					p := configured(t, arguments(env)) // without the objects that the last one has read
					refreshed, diags := p.Refresh(created)
					plan, more := p.Plan(refreshed, config)
					if text := texts(append(diags, more...)); text != "" || !plan.Planned.State.Equal(refreshed.State) {
						rt.Fatalf("the same configuration is a change: %s\n%s\n%s", text, refreshed.State, plan.Planned.State)
					}
					checkReplaces(rt, p, refreshed, config, schema)
				}
			})
		})
	}
}

// drawArguments returns a configuration with the required arguments and some of the optional ones.
func drawArguments(rt *rapid.T, kind string, schema []*tfprotov6.SchemaAttribute) map[string]any {
	config := map[string]any{}
	for _, attribute := range schema {
		if !attribute.Required && !attribute.Optional || slices.Contains(inPlace, attribute.Name) {
			continue
		}
		values, found := legal[kind][attribute.Name]
		if !found {
			rt.Fatalf("%s.%s has no legal values", kind, attribute.Name)
		}
		if attribute.Required || rapid.Bool().Draw(rt, "with "+attribute.Name) {
			config[attribute.Name] = rapid.SampledFrom(values[:]).Draw(rt, attribute.Name)
		}
	}
	return config
}

// checkReplaces checks that each argument with another value replaces the object.
func checkReplaces(
	rt *rapid.T, p plugin, object acctest.Object, config map[string]any, schema []*tfprotov6.SchemaAttribute,
) {
	for _, attribute := range schema {
		for _, value := range legal[object.Type][attribute.Name] {
			changed := maps.Clone(config)
			changed[attribute.Name] = value
			plan, _ := p.Plan(object, changed)
			same := plan.Planned.Attributes()[attribute.Name].Equal(object.Attributes()[attribute.Name])
			if _, set := config[attribute.Name]; same && set && fmt.Sprint(config[attribute.Name]) != fmt.Sprint(value) {
				rt.Errorf("%s: the change of %s is not planned", object.Type, attribute.Name)
			}
			if replaces := slices.Contains(plan.Replaces, attribute.Name); replaces == same {
				rt.Errorf("%s: %s = %q replaces the object: %t", object.Type, attribute.Name, value, replaces)
			}
		}
	}
}

// respell returns an interceptor that changes the fields of the account's own objects. Each response has other
// spellings, which depend on the seed.
func respell(seed *atomic.Uint64) acctest.Interceptor {
	return func(w http.ResponseWriter, r *http.Request, api http.Handler) {
		if r.Method == http.MethodDelete {
			api.ServeHTTP(w, r)
			return
		}
		acctest.RewriteItems(func(item map[string]any) {
			h := fnv.New64a()
			fmt.Fprint(h, item["id"], item["slug"])
			random := rand.New(rand.NewPCG(seed.Add(1), h.Sum64()))
			for _, name := range slices.Sorted(maps.Keys(item)) {
				if !slices.Contains([]string{"id", "slug", "owner", "secret"}, name) && item["owner"] != "catalog" {
					respellField(random, item, name)
				}
			}
		})(w, r, api)
	}
}

// respellField changes a field, or leaves it out.
func respellField(random *rand.Rand, item map[string]any, name string) {
	text := func(s string) string {
		return []string{
			s, strings.ReplaceAll(s, "\r\n", "\n"), strings.TrimSpace(s), s + "\n", strings.ToUpper(s), "#!/bin/sh\n" + s, "",
		}[random.IntN(7)]
	}
	switch value := item[name].(type) {
	case nil:
		item[name] = "by default"
	case string:
		item[name] = text(value)
	case float64:
		item[name] = value + float64(random.IntN(10))
	case bool:
		item[name] = random.IntN(2) == 0
	case []any:
		for _, element := range slices.Clone(value) {
			if port, ok := element.(float64); ok {
				value = append(value, port+1)
			}
		}
		if name == "scopes" {
			value = append(value, "billing:read")
		}
		random.Shuffle(len(value), func(i, j int) { value[i], value[j] = value[j], value[i] })
		item[name] = value
	case map[string]any:
		for key, inner := range value {
			value[key] = text(inner.(string))
		}
		value["TZ"] = "UTC"
	}
	if strings.HasSuffix(name, "_at") {
		item[name] = []any{"2100-01-01T03:00:00+03:00", "2100-01-01T00:00:00.5Z", nil}[random.IntN(3)]
	}
	if random.IntN(4) == 0 {
		delete(item, name)
	}
}

// The arguments of instances and of the members of fleets that the API cannot change keep their values, too.
func TestRented_OtherSpellingsAreNoChange(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"gpurent_instance", "gpurent_fleet"} {
		proxy := new(acctest.Proxy)
		env := acctest.Start(t, proxy.Option())
		config := maps.Clone(samples[kind])
		maps.Copy(config, map[string]any{"template": "custom", "image": "ubuntu:24.04", "type": "interruptible"})
		created, diags := configured(t, arguments(env)).create(kind, config)
		if len(diags) > 0 {
			t.Fatal(texts(diags))
		}
		proxy.Set(acctest.Request("GET", "/instances.*").Do(acctest.RewriteItems(func(item map[string]any) {
			item["template"] = map[string]any{"slug": "Custom", "name": "Custom image"}
			item["disk_gb"], item["type"], item["image"] = 59, "spot", "Ubuntu 24.04"
		})))
		p := configured(t, arguments(env))
		refreshed, diags := p.Refresh(created)
		plan, more := p.Plan(refreshed, config)
		if text := texts(append(diags, more...)); text != "" || !plan.Planned.State.Equal(refreshed.State) {
			t.Errorf("%s: the same configuration is a change: %s\n%s\n%s", kind, text, refreshed.State, plan.Planned.State)
		}
	}
}
