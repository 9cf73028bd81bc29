package instance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// invalid is a block with an invalid argument, in which NAME is the name of the block, and a part of the error.
type invalid struct{ block, want string }

// expectInvalid checks that "validate" reports each error, without a request.
func expectInvalid(t *testing.T, blocks []invalid) {
	t.Helper()
	env := acctest.Start(t)
	config := env.Provider()
	for n, block := range blocks {
		config += strings.Replace(block.block, "NAME", fmt.Sprintf("n%d", n), 1)
	}
	output, err := env.Workspace(config).Try("validate", "-json")
	if err == nil {
		t.Fatal("invalid arguments are accepted")
	}
	output = strings.ReplaceAll(acctest.Words(output), `\"`, `"`)
	for _, block := range blocks {
		if !strings.Contains(output, block.want) {
			t.Errorf("%q is not in: %s", block.want, output)
		}
	}
	if n := len(env.Requests()); n > 0 {
		t.Errorf("%d requests, want none", n)
	}
}

func TestAccInstance_invalidArguments(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	instance := func(arguments ...string) string {
		return strings.Replace(resourceBlock(arguments...), "trainer", "NAME", 1)
	}
	offer := func(arguments string) string { return instance(`offer_id = "off_1"`, arguments) }
	query := func(arguments string) string { return instance(`offer_query = {}`, arguments) }
	data := func(kind, arguments string) string {
		return fmt.Sprintf("data %q \"NAME\" {\n  %s\n}\n", kind, arguments)
	}
	const one, all, logs = "gpurent_instance", "gpurent_instances", "gpurent_instance_logs"
	expectInvalid(t, []invalid{
		{strings.Replace(offer(""), "= 60", "= 9", 1), "disk_gb value must be between 10 and 2000"},
		{offer(`desired_state = "paused"`), "desired_state must be one of"},
		{offer(`ssh_key_ids = ["1","2","3","4","5","6","7","8","9","10","11"]`), "at most 10"},
		{offer(`timeouts = { create = "soon" }`), "must be a duration above zero"},
		{offer(`wait_for_offer = "1h"`), `specified when "wait_for_offer" is`},
		{offer(`fallback_queries = [{ gpu = ["h100"] }]`), `specified when "fallback_queries" is`},
		{offer(`offer_query = {}`), "2 attributes specified"},
		{instance(), "No attribute specified"},
		{query(`wait_for_offer = "soon"`), "must be a duration"},
		{query(`ready_when = { log_pattern = "(?=x)" }`), "Invalid regular expression"},
		{query(`replace_on = ["disk_gb"]`), "replace_on contains an invalid value: each one must be one of"},
		{query(fmt.Sprintf("idempotency_key = %q", strings.Repeat("k", 65))), "idempotency_key UTF-8 character count must"},
		{data(one, ""), "one (and only one) of [id,name] is required"},
		{data(logs, "instance_id = \"ins_1\"\n tail = 0"), "tail value must be between 1 and 1000"},
	})
}

func TestAccInstanceActions_invalidArguments(t *testing.T) {
	acctest.Needs(t, "1.14.0", "")
	t.Parallel()
	block := func(verb, arguments string) string {
		return fmt.Sprintf("action \"gpurent_instance_%s\" \"NAME\" {\n config {\n %s\n }\n}\n", verb, arguments)
	}
	expectInvalid(t, []invalid{
		{block("start", `instance_id = ""`), "instance_id must not be empty"},
		{block("start", `timeout = "1m"`), `The argument "instance_id" is required`},
		{block("start", "instance_id = \"i\"\n timeout = \"0s\""), "must be a duration above zero"},
	})
}
