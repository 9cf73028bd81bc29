package instance_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// stopClock makes the clock move only when the test moves it, because the cost so far moves with it.
func stopClock(c *simulator.Config) { c.Step = 0 }

// The data source returns every field as the API does. A destroyed instance is found by its id, not by its name.
func TestInstanceDataSource(t *testing.T) {
	t.Parallel()
	// These quirks change the values that the test reads without quirks.
	env, tf, _ := start(t, nil, stopClock, acctest.WithoutQuirks("optional-fields-absent", "strange-neighbours",
		"image-spelling", "other-gpu", "unknown-enums", "sorted-differently"))
	typ := tf.DataSourceSchemas["gpurent_instance"].ValueType()
	ids := createInstances(env, "shared", "", "Обучение 🚀", "twice", "twice", "gone")
	setStatus(t, env, ids[5], "destroyed", "destroyed")
	env.Advance(10 * time.Hour)
	for i, arguments := range map[int]map[string]any{
		0: {"name": "shared"}, 1: {"id": ids[1]}, 2: {"name": "Обучение 🚀"}, 5: {"id": ids[5]},
	} {
		got, diags := tf.Data("gpurent_instance", arguments)
		want := acctest.Fetch[map[string]any](env, "instances/"+ids[i])
		if ssh, ok := want["ssh"].(map[string]any); !ok {
			want["ssh"] = map[string]any{}
		} else if ssh["command"] == nil || want["cost_so_far_kop"].(float64) < 1000 {
			t.Errorf("the API returns too little for this test: %v", want)
		}
		if state := acctest.Value(typ, want).String(); got != state || len(diags) > 0 {
			t.Errorf("%v:\n%s\nwant\n%s\n%s", arguments, got, state, diagsText(diags))
		}
	}
	for name, want := range map[string]string{
		"gone": "No instance with this name", "twice": "(running, created 2",
	} {
		_, diags := tf.Data("gpurent_instance", map[string]any{"name": name})
		expectDiags(t, name, diags, want)
	}
	_, diags := tf.Data("gpurent_instance", map[string]any{"id": "ins_none"})
	expectDiags(t, "an unknown id", diags, "No instance with this id")
}

func TestInstancesDataSource_Filters(t *testing.T) {
	t.Parallel()
	listed := regexp.MustCompile(`"id":tftypes.String<"(\w+)">`)
	env, tf, _ := start(t, nil, stopClock, acctest.WithoutQuirks("optional-fields-absent", "strange-neighbours"))
	names := []string{"research-1", "", "Research-2", "research-3", "Обучение-1"}
	ids := createInstances(env, names...)
	setStatus(t, env, ids[0], "destroyed", "destroyed")
	setStatus(t, env, ids[3], "stopped", "stopped")
	for _, test := range []struct {
		status, prefix any
		want           []int
	}{
		{nil, nil, []int{1, 2, 3, 4}},
		{"active", nil, []int{1, 2, 3, 4}},
		{nil, "research-", []int{3}},
		{nil, "Обуч", []int{4}},
		{"all", "research", []int{0, 3}},
	} {
		state, diags := tf.Data("gpurent_instances", map[string]any{"status": test.status, "name_prefix": test.prefix})
		expectDiags(t, "the data source", diags)
		var got, want []string
		for _, found := range listed.FindAllStringSubmatch(state, -1) {
			got = append(got, found[1])
		}
		for _, i := range test.want {
			want = append(want, ids[i])
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%v: got %v, want %v", test, got, want)
		}
	}
}

func TestLogsDataSource(t *testing.T) {
	t.Parallel()
	env, tf, _ := start(t, nil)
	id := createInstances(env, "shared")[0]
	lines := acctest.Fetch[map[string][]any](env, "instances/"+id+"/logs")["lines"]
	for tail, want := range map[any][]any{nil: lines, int64(2): lines[len(lines)-2:]} {
		state, diags := tf.Data("gpurent_instance_logs", map[string]any{"instance_id": id, "tail": tail})
		text := acctest.Value(tftypes.List{ElementType: tftypes.String}, want).String()
		if !strings.Contains(state, text) || len(diags) > 0 {
			t.Errorf("tail %v: no %s in %s%s", tail, text, state, diagsText(diags))
		}
	}
	if requests := fmt.Sprint(env.Requests()); !strings.Contains(requests, "tail=2") {
		t.Errorf("no request has the number of lines: %s", requests)
	}
	_, diags := tf.Data("gpurent_instance_logs", map[string]any{"instance_id": "ins_none"})
	expectDiags(t, "an unknown id", diags, "Cannot read the log of instance ins_none", "not_found", "does not exist")
}
