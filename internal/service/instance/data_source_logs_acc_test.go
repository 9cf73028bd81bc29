package instance_test

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const logsAddress = "data.gpurent_instance_logs.end"

func logsDataSource(id string, arguments string) string {
	return fmt.Sprintf("data \"gpurent_instance_logs\" \"end\" {\n  instance_id = %q\n  %s\n}\n", id, arguments)
}

// fetchLog returns the lines of the log of an instance.
func fetchLog(env *acctest.Env, id string) []knownvalue.Check {
	var checks []knownvalue.Check
	for _, line := range acctest.Fetch[struct{ Lines []string }](env, "instances/"+id+"/logs").Lines {
		checks = append(checks, knownvalue.StringExact(line))
	}
	env.ClearRequests()
	return checks
}

func TestAccInstanceLogsDataSource_basic(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	id := createInstances(env, "shared")[0]
	all := fetchLog(env, id)
	if len(all) < 3 {
		t.Fatalf("a log of %d lines is too short for this test", len(all))
	}
	whole := statecheck.ExpectKnownValue(logsAddress, tfjsonpath.New("lines"), knownvalue.ListExact(all))
	end := statecheck.ExpectKnownValue(logsAddress, tfjsonpath.New("lines"), knownvalue.ListExact(all[len(all)-2:]))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example("data-sources/gpurent_instance_logs/data-source.tf"),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownOutputValue("log", knownvalue.StringRegexp(regexp.MustCompile(`Z .+\n.+`))),
				},
			},
			{Config: env.Config(logsDataSource(id, "")), ConfigStateChecks: []statecheck.StateCheck{whole}},
			{Config: env.Config(logsDataSource(id, "tail = 1000")), ConfigStateChecks: []statecheck.StateCheck{whole}},
			{Config: env.Config(logsDataSource(id, "tail = 2")), ConfigStateChecks: []statecheck.StateCheck{end}},
			{
				PreConfig: func() {
					addFaults(t, env, simulator.Fault{Method: "GET", Path: "/instances/{id}/logs", Status: 503})
				},
				Config:      configWithoutRetries(env, logsDataSource(id, "")),
				ExpectError: regexp.MustCompile(`(?s)Cannot read the log of instance.*provider_unavailable.*Run\s+again\s+later`),
			},
			{
				// A destroyed instance can still be read.
				PreConfig: func() { env.ClearFaults(); env.Delete("instances/" + id); env.Advance(time.Minute) },
				Config:    env.Config(logsDataSource(id, "tail = 1")),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(logsAddress, tfjsonpath.New("lines"), knownvalue.ListSizeExact(1)),
				},
			},
			{
				Config:      env.Config(logsDataSource("ins_none", "")),
				ExpectError: regexp.MustCompile(`(?s)Cannot read the log of instance.*not_found.*does\s+not\s+exist`),
			},
		},
	})
}

// The request contains the number of lines, and is sent for one instance only.
func TestAccInstanceLogsDataSource_tail(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	id := createInstances(env, "")[0]
	w := env.Workspace("")
	for arguments, query := range map[string]string{"": "tail=200", "tail = 1": "tail=1", "tail = 1000": "tail=1000"} {
		w.Configure(env.Config(logsDataSource(id, arguments)))
		env.ClearRequests()
		w.Run("plan")
		if made := env.Requests(); len(made) != 1 || made[0].Query != query || made[0].Path != "/instances/"+id+"/logs" {
			t.Errorf("%q requests %v", arguments, made)
		}
	}
}
