package provider_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
)

// inPlace are the arguments that the API does not have.
var inPlace = []string{"rotate_before_days"}

// sent returns the arguments that a creation sends.
func sent(schema []*tfprotov6.SchemaAttribute) []*tfprotov6.SchemaAttribute {
	return slices.DeleteFunc(slices.Clone(schema), func(attribute *tfprotov6.SchemaAttribute) bool {
		return !attribute.Required && !attribute.Optional || slices.Contains(inPlace, attribute.Name)
	})
}

// Whatever the API returns for the fields of an object that it cannot change, the state keeps the configured values,
// and the same configuration is no change. Another configured value replaces the object.
func TestUnchangeable_OnlyTheConfigurationReplaces(t *testing.T) {
	forEach(t, maps.Keys(collections), func(t *testing.T, env *acctest.Env, kind string) {
		path := collections[kind]
		var spelling atomic.Uint64
		env.Proxy.Set(simtest.Request("", path).Do(respell(&spelling)))
		schema := run(t, env).ResourceSchemas[kind].Block.Attributes
		for seed := range uint64(12) {
			config := randomArguments(t, rand.New(rand.NewPCG(seed, 0)), kind, schema)
			spelling.Store(seed << 32)
			created, diags := run(t, env).Create(kind, config)
			if created.State.IsNull() || len(diags) > 0 {
				t.Fatal(config, texts(diags))
			}
			for range 2 {
				p := run(t, env) // without the objects that the last one has read
				refreshed, diags := p.Refresh(created)
				plan, more := p.Plan(refreshed, config)
				text := texts(append(diags, more...))
				if text != "" || !plan.Planned.State.Equal(refreshed.State) {
					t.Fatalf("seed %d: %v is a change: %s\n%s\n%s", seed, config, text, refreshed.State, plan.Planned.State)
				}
				checkReplaces(t, p, refreshed, config, schema)
			}
			env.Delete(strings.TrimPrefix(path, "/") + "/" + created.Text("id"))
		}
	})
}

// randomArguments returns a configuration with the required arguments and some of the optional ones.
func randomArguments(
	t *testing.T, random *rand.Rand, kind string, schema []*tfprotov6.SchemaAttribute,
) map[string]any {
	t.Helper()
	config := map[string]any{}
	for _, attribute := range sent(schema) {
		values := legal(kind, attribute.Name)
		if len(values) != 2 {
			t.Fatalf("%s.%s has the legal values %v, want two: add them to special in protocol_test.go", kind,
				attribute.Name, values)
		}
		if attribute.Required || random.IntN(2) == 0 {
			config[attribute.Name] = values[random.IntN(2)]
		}
	}
	return config
}

// checkReplaces checks that each argument with another value replaces the object.
func checkReplaces(
	t *testing.T, p plugin, object acctest.Object, config map[string]any, schema []*tfprotov6.SchemaAttribute,
) {
	t.Helper()
	for _, attribute := range schema {
		for _, value := range legal(object.Type, attribute.Name) {
			changed := maps.Clone(config)
			changed[attribute.Name] = value
			plan, _ := p.Plan(object, changed)
			same := plan.Planned.Attributes()[attribute.Name].Equal(object.Attributes()[attribute.Name])
			if _, set := config[attribute.Name]; same && set && fmt.Sprint(config[attribute.Name]) != fmt.Sprint(value) {
				t.Errorf("%s: the change of %s is not planned", object.Type, attribute.Name)
			}
			if replaces := slices.Contains(plan.Replaces, attribute.Name); replaces == same {
				t.Errorf("%s: %s = %q replaces the object: %t", object.Type, attribute.Name, value, replaces)
			}
		}
	}
}

// respell returns an interceptor that changes the fields of the account's own objects. Each response has other
// spellings, which depend on the seed.
func respell(seed *atomic.Uint64) simtest.Interceptor {
	return func(w http.ResponseWriter, r *http.Request, api http.Handler) {
		if r.Method == http.MethodDelete {
			api.ServeHTTP(w, r)
			return
		}
		random := rand.New(rand.NewPCG(seed.Add(1), 0))
		simtest.RewriteItems(func(item map[string]any) {
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
	forEach(t, slices.Values(rented), func(t *testing.T, env *acctest.Env, kind string) {
		config := maps.Clone(samples[kind])
		maps.Copy(config, map[string]any{"template": "custom", "image": "ubuntu:24.04", "type": "interruptible"})
		created, diags := run(t, env).Create(kind, config)
		if len(diags) > 0 {
			t.Fatal(texts(diags))
		}
		env.Proxy.Set(simtest.Request("GET", "/instances.*").Do(simtest.RewriteItems(func(item map[string]any) {
			item["template"] = map[string]any{"slug": "Custom", "name": "Custom image"}
			item["disk_gb"], item["type"], item["image"] = 59, "spot", "Ubuntu 24.04"
		})))
		p := run(t, env)
		refreshed, diags := p.Refresh(created)
		plan, more := p.Plan(refreshed, config)
		if text := texts(append(diags, more...)); text != "" || !plan.Planned.State.Equal(refreshed.State) {
			t.Errorf("%s: the same configuration is a change: %s\n%s\n%s", kind, text, refreshed.State, plan.Planned.State)
		}
	}, acctest.WithoutQuirks("other-gpu", "forbidden-balance")) // they add warnings
}
