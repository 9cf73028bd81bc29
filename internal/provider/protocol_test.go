package provider_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
)

// special are legal values of the arguments of resources where the bounds in the contract are not enough, or where the
// API could spell a value in another way. An argument with one value is in every sample.
var special = map[string]map[string][]any{
	"gpurent_instance": {
		"template": {"pytorch"}, "disk_gb": {int64(60)}, "name": {"w"}, "offer_query": {map[string]any{}},
	},
	"gpurent_fleet": {
		"name": {"w"}, "size": {int64(1)}, "template": {"pytorch"}, "disk_gb": {int64(60)},
		"offer_queries": {[]any{map[string]any{}}},
	},
	"gpurent_template": {
		"name": {"Trainer", "Обучение"}, "image": {"ubuntu:24.04", "registry.example:5000/team/app:1.2"},
		"description": {"one\r\ntwo \r\n", " Notebook"},
		"ports":       {[]any{int64(8888)}, []any{int64(22), int64(6006)}},
		"env":         {map[string]any{"A": " b\r\n"}, map[string]any{"A": "", "B": "c"}},
		"onstart":     {"#!/bin/sh\r\nrun\r\n", "  run"},
		"min_disk_gb": {int64(35), int64(47)}, "recommended_disk_gb": {int64(51), int64(99)},
	},
	"gpurent_ssh_key": {
		"name": {" Anna's laptop", "CI"},
		"public_key": {
			"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIDkFKvmQJY0PZmSyZyVYIXqx0zwJ0l3VvN6bXvK2pmc",
			"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKJLu/BJj6IuH3Ssli37zXUHMHdBfD153tGyfACAryQ8",
		},
	},
	"gpurent_api_key": {"scopes": {[]any{"user:write"}, []any{"user:read", "instances:write"}}},
}

// legal returns legal values of an argument: the special ones, or else the two at the bounds in the contract.
func legal(kind, argument string) []any {
	if values := special[kind][argument]; values != nil {
		return values
	}
	for _, op := range apidoc.Operations {
		if op.Created == "" || kindOf(op.Path) != kind {
			continue
		}
		for _, bound := range apidoc.Bounds {
			if bound.Table == op.Body && bound.Field == argument {
				valid := slices.DeleteFunc(slices.Clone(bound.Valid), func(value any) bool { return value == "" || value == nil })
				return valid[:min(2, len(valid))]
			}
		}
	}
	return nil
}

// kindOf returns the resource that would have the objects of a list of the API.
func kindOf(list string) string {
	return "gpurent_" + strings.ReplaceAll(strings.TrimSuffix(list[1:], "s"), "-", "_")
}

// samples are the required arguments of each resource.
var samples = func() map[string]map[string]any {
	server, err := provider.Server("test")()
	if err != nil {
		panic(err)
	}
	schemas, err := server.GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		panic(err)
	}
	all := map[string]map[string]any{}
	for kind, schema := range schemas.ResourceSchemas {
		all[kind] = map[string]any{}
		for _, attribute := range schema.Block.Attributes {
			values := legal(kind, attribute.Name)
			if attribute.Required && len(values) == 0 {
				panic(fmt.Sprintf("add legal values of %s.%s to special in protocol_test.go", kind, attribute.Name))
			}
			if attribute.Required || len(values) == 1 {
				all[kind][attribute.Name] = values[0]
			}
		}
	}
	return all
}()

// collections are the resources whose creation has no idempotency key and whose refresh reads a list, because the API
// has no request to read a single object, with the path of the list. Their data sources have the same names.
var collections = func() map[string]string {
	paths := map[string]string{}
	single := map[string]bool{}
	for _, op := range apidoc.Operations {
		list, _, found := strings.Cut(op.Path, "/{")
		single[list] = single[list] || found && op.Method == "GET"
		if kind := kindOf(list); samples[kind] != nil {
			paths[kind] = list
		}
	}
	for kind, list := range paths {
		if single[list] {
			delete(paths, kind)
		}
	}
	return paths
}()

// rented are the resources with servers.
var rented = []string{"gpurent_instance", "gpurent_fleet"}

// forEach runs a test for each of the resources in parallel, with a simulator.
func forEach(t *testing.T, kinds iter.Seq[string], test func(t *testing.T, env *acctest.Env, kind string),
	options ...acctest.Option,
) {
	t.Helper()
	t.Parallel()
	for kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, acctest.Start(t, options...), kind)
		})
	}
}

var texts = acctest.Texts

// plugin is a provider that creates samples.
type plugin struct{ acctest.Plugin }

func configured(t *testing.T, arguments map[string]any) plugin {
	t.Helper()
	return plugin{acctest.Configured(t, arguments)}
}

// run returns the provider of a run against a simulator.
func run(t *testing.T, env *acctest.Env) plugin {
	t.Helper()
	return configured(t, env.Arguments())
}

// createSample creates the sample of a resource.
func (p plugin) createSample(kind string) acctest.Object {
	p.Helper()
	created, diags := p.Create(kind, samples[kind])
	if created.State.IsNull() {
		p.Fatal(texts(diags))
	}
	return created
}

// must fails the test for an error of the protocol, which is not a diagnostic.
func must[T any](t *testing.T, resp T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return resp
}
