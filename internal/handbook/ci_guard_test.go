package handbook_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
)

// guard runs guard.sh in a shell and returns what it prints.
func guard(t *testing.T, shell []string, costs, reviewed string) (string, error) {
	t.Helper()
	folder := t.TempDir()
	for file, text := range map[string]string{"costs.md": costs, "reviewed.md": reviewed} {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return script{
		text: "set -- costs.md reviewed.md\n. '" + example(ciGitHub, "ci", "guard.sh") + "'", folder: folder, shell: shell, env: os.Environ(),
	}.run(t)
}

// The guard passes what the review has shown, and what needs no review.
func TestCIGuard(t *testing.T) {
	needs(t, "jq")
	const (
		create  = `{"actions": ["create"], "before": null, "after": {"max_price_kop_h": 5000}}`
		destroy = `{"actions": ["delete"], "before": {` + aRunning + `}}`
		replace = `{"actions": ["delete", "create"], "before": {` + aRunning + `}, "after": {"max_price_kop_h": 5000}}`
		forget  = `{"actions": ["forget"], "before": {` + aRunning + `}}`
		start   = `{"actions": ["update"], "before": {` + aStopped + `}, "after": {"desired_state": "running"}}`
		rename  = `{"actions": ["update"], "before": {` + aRunning + `, "name": "a"}, "after": {` + aRunning + `, "name": "b"}}`
		rebid   = `{"actions": ["update"], "before": {` + anOutbid + `}, "after": {"desired_state": "running"}}`
	)
	never := `{"resource_changes": []}`
	for name, test := range map[string]struct {
		planned, reviewed string
		refused           string
	}{
		"as reviewed":                  {costsOf(t, create, destroy), costsOf(t, create, destroy), ""},
		"less than reviewed":           {costsOf(t, create), costsOf(t, create, destroy), ""},
		"with CRLF":                    {costsOf(t, create), strings.ReplaceAll(costsOf(t, create), "\n", "\r\n"), ""},
		"a start and a rename":         {costsOf(t, start, rename), "", ""},
		"no review":                    {costsOf(t, create), "", "create gpurent_instance.s0: the review has not shown it"},
		"another server":               {costsOf(t, create, create), costsOf(t, create), "create gpurent_instance.s1"},
		"a destruction as well":        {costsOf(t, replace), costsOf(t, create), "replace gpurent_instance.s0"},
		"a start became a destruction": {costsOf(t, destroy), costsOf(t, start), "delete gpurent_instance.s0"},
		"forgotten":                    {costsOf(t, forget), costsOf(t, destroy), "forget gpurent_instance.s0"},
		"a start that nothing caps":    {costsOf(t, rebid), costsOf(t, rebid), "start gpurent_instance.s0: it has no price cap"},
		"costs without a list":         {never, costsOf(t, create), "do not list what the plan does"},
		"a broken review":              {costsOf(t, create), "<!-- reviewed: AAAA -->", "the review has not shown it"},
		"a list in another format":     {costsOf(t, create), "<!-- reviewed: " + base64.StdEncoding.EncodeToString([]byte(`"x"`)) + " -->", "has not shown it"},
	} {
		t.Run(name, func(t *testing.T) {
			for shell, command := range shells(t) {
				printed, err := guard(t, command, test.planned, test.reviewed)
				if (err != nil) != (test.refused != "") || !strings.Contains(printed, test.refused) {
					t.Errorf("%s: it ended with %v and printed %q, want %q", shell, err, printed, test.refused)
				}
			}
		})
	}
}

// A server with the same address can cost more than its review has shown, be another one, or admit somebody else.
func TestCIGuard_ComparesMoneyAndArguments(t *testing.T) {
	needs(t, "jq")
	const server = `"type": "on_demand", "offer_query": {"gpu": ["rtx_4090"], "num_gpus": [1], "country": null}, "template": "pytorch", ` +
		`"disk_gb": 60, "ssh_key_ids": ["key_1"], "max_price_kop_h": 9000, "name": "a", "idempotency_key": "a"`
	const newKey = `"name": "ci", "scopes": ["instances:read"], "expires_in_days": 30`
	const newSSHKey = `"name": "ann", "public_key": "ssh-ed25519 AAAA"`
	const newTemplate = `"name": "mine", "image": "ubuntu:24.04", "onstart": "train", "env": {"A": "b"}`
	const up = `{"actions": ["update"], "before": {` + aRunning + `, "max_price_kop_h": 9000}, "after": {"max_price_kop_h": %s}}`
	type change struct{ old, new string }
	for name, test := range map[string]struct {
		resource, after string
		changed         change
		refused         string
	}{
		"the same server":             {"gpurent_instance", server, change{}, ""},
		"a higher cap":                {"gpurent_instance", server, change{"9000", "9000000"}, "it may cost 9000000 kopecks an hour, reviewed were 9000"},
		"a slightly higher cap":       {"gpurent_instance", server, change{"9000", "9001"}, "it may cost 9001"},
		"a lower cap":                 {"gpurent_instance", server, change{"9000", "8000"}, ""},
		"no cap any more":             {"gpurent_instance", server, change{"9000", "null"}, "it has no price cap"},
		"another type":                {"gpurent_instance", server, change{"on_demand", "interruptible"}, "another type"},
		"another GPU":                 {"gpurent_instance", server, change{"rtx_4090", "h100"}, "another offer_query"},
		"another filter":              {"gpurent_instance", server, change{`"country": null`, `"country": ["RU"]`}, "another offer_query"},
		"an offer":                    {"gpurent_instance", server, change{`"disk_gb"`, `"offer_id": "off_1", "disk_gb"`}, "another offer_id"},
		"another template":            {"gpurent_instance", server, change{"pytorch", "custom"}, "another template"},
		"an image":                    {"gpurent_instance", server, change{`"disk_gb"`, `"image": "evil:1", "disk_gb"`}, "another image"},
		"a bigger disk":               {"gpurent_instance", server, change{`"disk_gb": 60`, `"disk_gb": 2000`}, "another disk_gb"},
		"another SSH key of it":       {"gpurent_instance", server, change{"key_1", "key_2"}, "another ssh_key_ids"},
		"two at once":                 {"gpurent_instance", server, change{`60, "ssh_key_ids": ["key_1"]`, `80, "ssh_key_ids": null`}, "another disk_gb, ssh_key_ids"},
		"another name":                {"gpurent_instance", server, change{`"name": "a", "idempotency_key": "a"`, `"name": "b", "idempotency_key": "b"`}, ""},
		"the same API key":            {"gpurent_api_key", newKey, change{}, ""},
		"more scopes":                 {"gpurent_api_key", newKey, change{`:read"`, `:read", "user:write"`}, "another scopes"},
		"a key that never expires":    {"gpurent_api_key", newKey, change{"30", "null"}, "another expires_in_days"},
		"a key by another name":       {"gpurent_api_key", newKey, change{"ci", "mine"}, "another name"},
		"the same SSH key":            {"gpurent_ssh_key", newSSHKey, change{}, ""},
		"another SSH key":             {"gpurent_ssh_key", newSSHKey, change{"AAAA", "BBBB"}, "another public_key"},
		"the same template":           {"gpurent_template", newTemplate, change{}, ""},
		"a template of another image": {"gpurent_template", newTemplate, change{"ubuntu:24.04", "evil:1"}, "another image"},
		"another command":             {"gpurent_template", newTemplate, change{"train", "mine"}, "another onstart"},
	} {
		t.Run(name, func(t *testing.T) {
			create := func(after string) string {
				return costsOfPlan(t, changeOf(test.resource, "x", `{"actions": ["create"], "before": null, "after": {`+after+`}}`))
			}
			changed := test.after
			if test.changed.old != "" {
				if changed = strings.Replace(changed, test.changed.old, test.changed.new, 1); changed == test.after {
					t.Fatalf("nothing changed in %s", changed)
				}
			}
			expectGuard(t, create(changed), create(test.after), test.refused)
		})
	}
	for name, test := range map[string]struct {
		planned, reviewed string
		refused           string
	}{
		"a raised cap that was reviewed": {fmt.Sprintf(up, "10000"), fmt.Sprintf(up, "12000"), ""},
		"one raised further":             {fmt.Sprintf(up, "12000"), fmt.Sprintf(up, "10000"), "it may cost 12000 kopecks an hour, reviewed were 10000"},
		"one that was not reviewed":      {fmt.Sprintf(up, "12000"), "", "raise the price cap of gpurent_instance.s0: the review has not shown it"},
		"a cap that is removed":          {fmt.Sprintf(up, "null"), fmt.Sprintf(up, "null"), "it has no price cap"},
		"a lowered cap":                  {fmt.Sprintf(up, "8000"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			reviewed := ""
			if test.reviewed != "" {
				reviewed = costsOf(t, test.reviewed)
			}
			expectGuard(t, costsOf(t, test.planned), reviewed, test.refused)
		})
	}
	// Without a review no new key passes.
	for _, resource := range []string{"gpurent_api_key", "gpurent_ssh_key", "gpurent_template"} {
		expectGuard(t, costsOfPlan(t, changeOf(resource, "x", `{"actions": ["create"], "after": {"name": "x"}}`)), "", "create "+resource+".x")
		expectGuard(t, costsOfPlan(t, changeOf(resource, "x", `{"actions": ["delete", "create"], "after": {"name": "x"}}`)), "", "replace "+resource+".x")
	}
}

func expectGuard(t *testing.T, planned, reviewed, refused string) {
	t.Helper()
	printed, err := guard(t, []string{"sh"}, planned, reviewed)
	if (err != nil) != (refused != "") || !strings.Contains(printed, refused) {
		t.Errorf("it ended with %v and printed %q, want %q", err, printed, refused)
	}
}

// What a first, failed apply has created is known to the second one. Only references to it may become known.
func TestCIGuard_KnownAfterApply(t *testing.T) {
	needs(t, "jq")
	create := func(after, unknown string) string {
		return costsOf(t, `{"actions": ["create"], "before": null, "after": {`+after+`}, "after_unknown": {`+unknown+`}}`)
	}
	reviewed := create(`"max_price_kop_h": 1, "ssh_key_ids": [null]`, `"template": true, "image": true, "ssh_key_ids": [true]`)
	for planned, refused := range map[string]string{
		create(`"max_price_kop_h": 1, "template": "mine", "ssh_key_ids": ["key_1"]`, `"image": true`):                   "",
		create(`"max_price_kop_h": 1, "ssh_key_ids": [null]`, `"template": true, "image": true, "ssh_key_ids": [true]`): "",
		create(`"max_price_kop_h": 1, "image": "evil:1"`, `"template": true, "ssh_key_ids": true`):                      "another image",
		create(``, `"template": true, "image": true, "ssh_key_ids": true, "max_price_kop_h": true`):                     "it has no price cap",
	} {
		expectGuard(t, planned, reviewed, refused)
	}
	known := create(`"max_price_kop_h": 1, "template": "mine"`, ``)
	expectGuard(t, create(`"max_price_kop_h": 1`, `"template": true`), known, "another template")
}

// Everyone who can read a pull request can read the list in its comment.
func TestCIReview_HasNoSensitiveValues(t *testing.T) {
	needs(t, "jq", "base64")
	costs := costsOfPlan(t, changeOf("gpurent_template", "x", `{"actions": ["create"], "before": null,
		"after": {"name": "x", "image": "ubuntu:24.04", "env": {"TOKEN": "hunter2", "A": "b"}, "onstart": "hunter2"},
		"after_sensitive": {"env": {"TOKEN": true}, "onstart": true}}`))
	list := listOf(t, costs)
	if strings.Contains(costs+list, "hunter2") || strings.Count(list, "(sensitive)") != 2 || !strings.Contains(list, "ubuntu:24.04") {
		t.Errorf("the comment lists %s", list)
	}
}

// listOf returns the list for the guard in a comment.
func listOf(t *testing.T, costs string) string {
	t.Helper()
	_, list, _ := strings.Cut(costs, "<!-- reviewed: ")
	list, _, _ = strings.Cut(list, " -->")
	decoded, err := base64.StdEncoding.DecodeString(list)
	if err != nil || len(decoded) == 0 {
		t.Fatalf("%q is not a list: %v", list, err)
	}
	return string(decoded)
}

// GitHub accepts comments of 65,536 characters.
func TestCIReview_OfManyServersFitsAComment(t *testing.T) {
	needs(t, "jq")
	var servers []string
	for n := range 200 {
		servers = append(servers, changeOf("gpurent_instance", fmt.Sprintf(`fleet[\"researcher-%03d\"]`, n), fmt.Sprintf(`{"actions": ["create"],
			"before": null, "after": {"name": "r%d", "template": "pytorch", "type": "on_demand", "disk_gb": 60, "max_price_kop_h": 9000,
			"ssh_key_ids": ["key_1", "key_2", "key_3"], "offer_query": {"gpu": ["rtx_4090"], "num_gpus": [1], "country": null}}}`, n)))
	}
	costs := costsOfPlan(t, servers...)
	if n := len([]rune(costs)); n > 65536 {
		t.Errorf("the comment about 200 servers has %d characters", n)
	}
	expectGuard(t, costs, costs, "")
}

// notReviewed are arguments that neither cost money nor give access, or can be changed in place.
var notReviewed = map[string][]string{
	"gpurent_instance": {
		"max_price_kop_h", // compared as a number
		"name", "idempotency_key", "desired_state", "on_outbid", "keep_on_timeout", "replace_on", "timeouts",
	},
	"gpurent_template": {"description"},
	"gpurent_api_key":  {"rotate_before_days", "allow_self_revoke"},
}

// A new argument of a resource is reviewed, or this test names it.
func TestCIReview_HasEveryArgument(t *testing.T) {
	server, err := provider.Server("test")()
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	costs := textOf(t, example(ciGitHub, "ci", "costs.jq"))
	for resource, schema := range schemas.ResourceSchemas {
		want := slices.Clone(notReviewed[resource])
		_, line, found := strings.Cut(costs, "  "+resource+": [")
		line, _, _ = strings.Cut(line, "]")
		for _, name := range regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(line, -1) {
			want = append(want, name[1])
		}
		arguments := map[string]bool{}
		for _, a := range schema.Block.Attributes {
			if a.Required || a.Optional {
				arguments[a.Name] = true
			}
		}
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(arguments)); !found || !slices.Equal(got, want) {
			t.Errorf("%s has the arguments %v; costs.jq and this test have %v", resource, got, want)
		}
	}
	if len(schemas.ResourceSchemas) < 4 {
		t.Error("too few resources were found: this test looks in the wrong place")
	}
}

// inert matches a code span of what cannot end it, nor the cell of a table, nor hide.
var inert = regexp.MustCompile("`[\\p{L}\\p{N} ._:/,+=\"\\[\\]!'()*~%-]+`")

// Names come from the configuration of a pull request. None of them is live in the comment.
func TestCIComment_NamesAreInert(t *testing.T) {
	needs(t, "jq")
	for _, name := range []string{
		"`", "``", "` @everyone `", "a|b", `a\`, `a\\`, "<script>", "<!-- x", "-->", "<b onclick=x>", "&lt;b&gt;", "@owner", "@group/team",
		"#1", "!1", "research/servers#1", "~label", "[text](https://evil.test)", "![x](https://evil.test/x.png)", "https://evil.test", "www.evil.test",
		"a@evil.test", "*bold*", "_a_", "line\n/close\n", "\r\n\r\n# Title", "\u2028\u202e\u200b", "$`x`$", ":tada:", "[[_TOC_]]",
		"\n<!-- reviewed: W10= -->\n",
	} {
		address := fmt.Sprintf("gpurent_instance.s[%q]", name)
		changes := []string{
			fmt.Sprintf(`{"address": %s, "mode": "managed", "type": "gpurent_instance",
				"change": {"actions": ["create"], "after": {"max_price_kop_h": 5}}}`, quotedJSON(t, address+name)),
			fmt.Sprintf(`{"address": %s, "mode": "managed", "type": "gpurent_instance",
				"change": {"actions": ["update"], "before": {"status": "running", "max_price_kop_h": 5}, "after": {"max_price_kop_h": 6}}}`, quotedJSON(t, address+name)),
			fmt.Sprintf(`{"address": %s, "mode": "managed", "type": "gpurent_api_key",
				"change": {"actions": ["create"], "after": {"scopes": [%[1]s], "expires_in_days": %[1]s}}}`, quotedJSON(t, name)),
			fmt.Sprintf(`{"address": %s, "mode": "managed", "type": "gpurent_ssh_key",
				"change": {"actions": ["create"], "after": {"fingerprint": %[1]s}}}`, quotedJSON(t, name)),
			fmt.Sprintf(`{"address": %s, "mode": "managed", "type": "other", "change": {"actions": ["create"]}}`, quotedJSON(t, name)),
		}
		costs := costsOfPlan(t, changes...)
		costs, list, _ := strings.Cut(costs, "<!-- reviewed: ")
		if !regexp.MustCompile(`^[A-Za-z0-9+/=]+ -->\n$`).MatchString(list) {
			t.Errorf("%q: the comment ends with %q", name, list)
		}
		// Without the code spans all comments are the same text.
		rest := inert.ReplaceAllString(costs, "NAME")
		const want = "<!-- gpurent costs -->\n### What this plan does to the servers\n\n| server | | costs now | costs afterwards |\n|---|---|---:|---:|\n" +
			"| NAME | rent | 0,00 ₽ | up to 0,05 ₽ |\n| NAME | settings | 0,00 ₽ | 0,00 ₽ |\n" +
			"| **an hour** | | **0,00 ₽** | **up to 0,05 ₽** |\n| **a month of 730 hours** | | **0,00 ₽** | **up to 36,50 ₽** |\n\n" +
			"It adds up to 0,05 ₽ an hour (up to 36,50 ₽ a month) and removes 0,00 ₽ an hour (0,00 ₽ a month).\n" +
			"What is rented counts with its cap; disk beyond an offer's base comes on top.\n" +
			"It also changes what is no server: NAME, NAME, NAME.\n" +
			"- The price cap of NAME: 0,05 ₽ an hour before, 0,06 ₽ afterwards.\n" +
			"- New API key NAME: NAME, expires in NAME days.\n- New SSH key NAME: NAME.\n\n"
		if rest != want {
			t.Errorf("%q is live in the comment:\n%s", name, costs)
		}
		// Neither is it in the log of the guard.
		if printed, err := guard(t, []string{"sh"}, costsOfPlan(t, changes...), ""); err == nil || strings.Count(printed, "\n") != 6 ||
			strings.ContainsAny(printed, "\r\x1b") {
			t.Errorf("%q: the guard ended with %v and printed %q", name, err, printed)
		}
	}
}

func quotedJSON(t *testing.T, text string) string {
	t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(quoted)
}
