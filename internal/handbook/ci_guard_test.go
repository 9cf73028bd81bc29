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

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// guard runs guard.sh in a shell and returns its output.
func guard(t *testing.T, shell []string, costs, reviewed string) (string, error) {
	t.Helper()
	folder := t.TempDir()
	for file, text := range map[string]string{"costs.md": costs, "reviewed.md": reviewed} {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return script{
		text:   "set -- costs.md reviewed.md\n. '" + example(ciGitHub, "ci", "guard.sh") + "'",
		folder: folder, shell: shell, env: os.Environ(),
	}.run(t)
}

// The guard accepts the changes that the review showed, and those that need no review.
func TestCIGuard(t *testing.T) {
	needs(t, "jq")
	const (
		before  = `, "before": {` + aRunning + `}`
		create  = `{"actions": ["create"], "before": null, "after": {"max_price_kop_h": 5000}}`
		destroy = `{"actions": ["delete"]` + before + `}`
		replace = `{"actions": ["delete", "create"]` + before + `, "after": {"max_price_kop_h": 5000}}`
		forget  = `{"actions": ["forget"]` + before + `}`
		start   = `{"actions": ["update"], "before": {` + aStopped + `}, "after": {"desired_state": "running"}}`
		rename  = `{"actions": ["update"]` + before + `, "after": {` + aRunning + `, "name": "b"}}`
		rebid   = `{"actions": ["update"], "before": {` + anOutbid + `}, "after": {"desired_state": "running"}}`
	)
	crlf := strings.ReplaceAll(costsOf(t, create), "\n", "\r\n")
	text := "<!-- reviewed: " + base64.StdEncoding.EncodeToString([]byte(`"text"`)) + " -->"
	for name, test := range map[string]struct {
		planned, reviewed string
		refused           string
	}{
		"as reviewed":                  {costsOf(t, create, destroy), costsOf(t, create, destroy), ""},
		"less than reviewed":           {costsOf(t, create), costsOf(t, create, destroy), ""},
		"with CRLF":                    {costsOf(t, create), crlf, ""},
		"a start and a rename":         {costsOf(t, start, rename), "", ""},
		"no review":                    {costsOf(t, create), "", "create gpurent_instance.s0: not in the review"},
		"another server":               {costsOf(t, create, create), costsOf(t, create), "create gpurent_instance.s1"},
		"a destruction as well":        {costsOf(t, replace), costsOf(t, create), "replace gpurent_instance.s0"},
		"a start became a destruction": {costsOf(t, destroy), costsOf(t, start), "delete gpurent_instance.s0"},
		"forgotten":                    {costsOf(t, forget), costsOf(t, destroy), "forget gpurent_instance.s0"},
		"a start without a cap":        {costsOf(t, rebid), costsOf(t, rebid), "start gpurent_instance.s0: no price cap"},
		"costs without a list":         {"", costsOf(t, create), "contain no list of changes"},
		"a broken review":              {costsOf(t, create), "<!-- reviewed: AAAA -->", "not in the review"},
		"a list in another format":     {costsOf(t, create), text, "not in the review"},
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

// A server with the same address as in the review can have a higher price, other hardware or other SSH keys.
func TestCIGuard_ComparesMoneyAndArguments(t *testing.T) {
	needs(t, "jq")
	type resource struct{ kind, after string }
	server := resource{"gpurent_instance", `"type": "on_demand", "offer_query": {"gpu": ["rtx_4090"], "country": null},
		"template": "pytorch", "disk_gb": 60, "ssh_key_ids": ["key_1"], "max_price_kop_h": 9000,
		"name": "a", "idempotency_key": "a"`}
	apiKey := resource{"gpurent_api_key", `"name": "ci", "scopes": ["instances:read"], "expires_in_days": 30`}
	sshKey := resource{"gpurent_ssh_key", `"name": "ann", "public_key": "ssh-ed25519 AAAA"`}
	template := resource{"gpurent_template", `"name": "mine", "image": "ubuntu:24.04", "onstart": "train"`}
	type change struct{ old, new string }
	for name, test := range map[string]struct {
		resource resource
		changed  change
		refused  string
	}{
		"the same server":             {server, change{}, ""},
		"a higher cap":                {server, change{"9000", "9000000"}, "is 9000000 kopecks per hour, but"},
		"a slightly higher cap":       {server, change{"9000", "9001"}, "the price cap is 9001"},
		"a lower cap":                 {server, change{"9000", "8000"}, ""},
		"no cap any more":             {server, change{"9000", "null"}, "no price cap"},
		"another type":                {server, change{"on_demand", "interruptible"}, "review: type"},
		"another GPU":                 {server, change{"rtx_4090", "h100"}, "review: offer_query"},
		"another filter":              {server, change{`"country": null`, `"country": ["RU"]`}, "review: offer_query"},
		"an offer":                    {server, change{`"disk_gb"`, `"offer_id": "off_1", "disk_gb"`}, "review: offer_id"},
		"another template":            {server, change{"pytorch", "custom"}, "review: template"},
		"an image":                    {server, change{`"disk_gb"`, `"image": "evil:1", "disk_gb"`}, "review: image"},
		"a bigger disk":               {server, change{`"disk_gb": 60`, `"disk_gb": 2000`}, "review: disk_gb"},
		"another SSH key of it":       {server, change{"key_1", "key_2"}, "review: ssh_key_ids"},
		"two at once":                 {server, change{`60, "ssh_key_ids"`, `8, "x"`}, "review: disk_gb, ssh_key_ids"},
		"another name":                {server, change{`"name": "a", "idempotency_key": "a"`, `"name": "b"`}, ""},
		"the same API key":            {apiKey, change{}, ""},
		"more scopes":                 {apiKey, change{`:read"`, `:read", "user:write"`}, "review: scopes"},
		"a key that never expires":    {apiKey, change{"30", "null"}, "review: expires_in_days"},
		"a key by another name":       {apiKey, change{"ci", "mine"}, "review: name"},
		"the same SSH key":            {sshKey, change{}, ""},
		"another SSH key":             {sshKey, change{"AAAA", "BBBB"}, "review: public_key"},
		"the same template":           {template, change{}, ""},
		"a template of another image": {template, change{"ubuntu:24.04", "evil:1"}, "review: image"},
		"another command":             {template, change{"train", "mine"}, "review: onstart"},
	} {
		t.Run(name, func(t *testing.T) {
			create := func(after string) []string {
				return []string{changeOf(test.resource.kind, "x", `{"actions": ["create"], "after": {`+after+`}}`)}
			}
			if !strings.Contains(test.resource.after, test.changed.old) {
				t.Fatalf("%s has no %s", test.resource.after, test.changed.old)
			}
			changed := strings.Replace(test.resource.after, test.changed.old, test.changed.new, 1)
			costs := costsOfPlans(t, create(changed), create(test.resource.after))
			expectGuard(t, costs[0], costs[1], test.refused)
		})
	}
	// A review without a price cap approves no price.
	limits := costsOfPlans(
		t,
		[]string{changeOf(server.kind, "x", `{"actions": ["create"], "after": {"max_price_kop_h": 9000}}`)},
		[]string{changeOf(server.kind, "x", `{"actions": ["create"], "after": {}}`)},
	)
	expectGuard(t, limits[0], limits[1], "the price cap is 9000 kopecks per hour, but null in the review")
	// The guard refuses every new key without a review.
	for _, kind := range []string{"gpurent_api_key", "gpurent_ssh_key", "gpurent_template"} {
		for does, actions := range map[string]string{"create": `"create"`, "replace": `"delete", "create"`} {
			costs := costsOfPlan(t, changeOf(kind, "x", `{"actions": [`+actions+`], "after": {"name": "x"}}`))
			expectGuard(t, costs, "", does+" "+kind+".x: not in the review")
		}
	}
}

// A plan can also raise the price cap of an existing server.
func TestCIGuard_ComparesCapsOfExistingServers(t *testing.T) {
	needs(t, "jq")
	update := func(limit string) string {
		return costsOf(t, `{"actions": ["update"], "before": {`+aRunning+`, "max_price_kop_h": 9000},
			"after": {"max_price_kop_h": `+limit+`}}`)
	}
	for name, test := range map[string]struct {
		planned, reviewed string
		refused           string
	}{
		"a raised cap that was reviewed": {update("10000"), update("12000"), ""},
		"one raised further":             {update("12000"), update("10000"), "the price cap is 12000 kopecks per hour"},
		"one that was not reviewed":      {update("12000"), "", "price cap of gpurent_instance.s0: not in the review"},
		"a cap that is removed":          {update("null"), update("null"), "no price cap"},
		"a lowered cap":                  {update("8000"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			expectGuard(t, test.planned, test.reviewed, test.refused)
		})
	}
}

// The guard accepts a change of a fleet that rents or destroys servers only if the review showed it. A repair restores
// what was reviewed.
func TestCIGuard_Fleets(t *testing.T) {
	needs(t, "jq")
	const limits = `"max_price_kop_h": 5000, "max_total_kop_h": 20000`
	update := func(before, after string) string {
		return costsOfPlan(t, changeOf("gpurent_fleet", "train", `{"actions": ["update"], "before": `+before+
			`, "after": `+after+`, "after_unknown": {"instances": true}}`))
	}
	two := fleetWith(2, limits, aRunning, anOutbid)
	for name, test := range map[string]struct {
		planned, reviewed string
		refused           string
	}{
		"a repair": {update(two, fleetWith(2, limits)), "", ""},
		"a repair without a cap": {
			update(fleetWith(2, `"x": 1`, aRunning, anOutbid), fleetWith(2, `"x": 1`)), "", "no price cap",
		},
		"a larger size":  {update(two, fleetWith(3, limits)), "", "update gpurent_fleet.train: not in the review"},
		"a smaller size": {update(two, fleetWith(1, limits)), "", "update gpurent_fleet.train: not in the review"},
		"as reviewed":    {update(two, fleetWith(3, limits)), update(two, fleetWith(3, limits)), ""},
		"larger than reviewed": {
			update(two, fleetWith(9, limits)), update(two, fleetWith(4, limits)), "the review: size",
		},
		"more expensive than reviewed": {
			update(two, fleetWith(9, limits)), update(two, fleetWith(3, limits)), "the price cap is 20000 kopecks per hour",
		},
		"another template": {
			update(two, strings.Replace(fleetWith(2, limits), "pytorch", "custom", 1)), "", "not in the review",
		},
		"another query": {
			update(two, strings.Replace(fleetWith(3, limits), "rtx_4090", "h100", 1)), update(two, fleetWith(3, limits)),
			"the review: offer_queries",
		},
		"a higher cap": {
			update(two, fleetWith(2, `"max_price_kop_h": 9000`)), "", "raise the price cap of gpurent_fleet.train",
		},
	} {
		t.Run(name, func(t *testing.T) {
			expectGuard(t, test.planned, test.reviewed, test.refused)
		})
	}
}

func expectGuard(t *testing.T, planned, reviewed, refused string) {
	t.Helper()
	printed, err := guard(t, []string{"sh"}, planned, reviewed)
	if (err != nil) != (refused != "") || !strings.Contains(printed, refused) {
		t.Errorf("it ended with %v and printed %q, want %q", err, printed, refused)
	}
}

// After a failed apply, the next plan has values for what the first one created. The guard accepts this only for
// references to resources.
func TestCIGuard_KnownAfterApply(t *testing.T) {
	needs(t, "jq")
	create := func(after, unknown string) string {
		return costsOf(t, `{"actions": ["create"], "before": null, "after": {`+after+`}, "after_unknown": {`+unknown+`}}`)
	}
	const limit, unknown = `"max_price_kop_h": 1`, `"template": true, "image": true, "ssh_key_ids": [true]`
	reviewed := create(limit+`, "ssh_key_ids": [null]`, unknown)
	for planned, refused := range map[string]string{
		reviewed: "",
		create(limit+`, "template": "mine", "ssh_key_ids": ["key_1"]`, `"image": true`): "",
		create(limit+`, "image": "evil:1"`, `"template": true, "ssh_key_ids": [true]`):  "review: image",
		create(``, unknown+`, "max_price_kop_h": true`):                                 "no price cap",
	} {
		expectGuard(t, planned, reviewed, refused)
	}
	known := create(limit+`, "template": "mine"`, ``)
	expectGuard(t, create(limit, `"template": true`), known, "review: template")
}

// Every reader of a pull request can decode the list in its comment.
func TestCIReview_HasNoSensitiveValues(t *testing.T) {
	needs(t, "jq", "base64")
	costs := costsOfPlan(t, changeOf("gpurent_template", "x", `{"actions": ["create"], "before": null,
		"after": {"name": "x", "image": "ubuntu:24.04", "env": {"TOKEN": "hunter2", "A": "b"}, "onstart": "hunter2"},
		"after_sensitive": {"env": {"TOKEN": true}, "onstart": true}}`))
	list := listOf(t, costs)
	if strings.Contains(costs+list, "hunter2") || strings.Count(list, "(sensitive)") != 2 ||
		!strings.Contains(list, "ubuntu:24.04") {
		t.Errorf("the comment lists %s", list)
	}
}

// listOf decodes the list for the guard in a comment.
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
		name := fmt.Sprintf(`fleet["researcher-%03d"]`, n)
		servers = append(servers, changeOf("gpurent_instance", name, fmt.Sprintf(`{"actions": ["create"], "after": {
			"name": "r%d", "template": "pytorch", "type": "on_demand", "disk_gb": 60, "max_price_kop_h": 9000,
			"ssh_key_ids": ["key_1", "key_2"], "offer_query": {"gpu": ["rtx_4090"], "num_gpus": [1], "country": null}}}`, n)))
	}
	costs := costsOfPlan(t, servers...)
	if n := len([]rune(costs)); n > 65536 {
		t.Errorf("the comment about 200 servers has %d characters", n)
	}
	expectGuard(t, costs, costs, "")
}

// notReviewed lists the arguments that neither cost money nor give access, or can be changed in place.
var notReviewed = map[string][]string{
	"gpurent_instance": {
		"max_price_kop_h", // compared as a number
		"name", "idempotency_key", "desired_state", "on_outbid", "keep_on_timeout", "replace_on", "timeouts",
		"wait_for_offer", "ready_when",
	},
	"gpurent_fleet": {
		"max_price_kop_h", "max_total_kop_h", // compared as numbers
		"desired_state", "allocation", "min_ready", "on_outbid", "shrink", "update", "max_unavailable", "wait_for_offer",
		"ready_when", "timeouts",
	},
	"gpurent_template": {"description"},
	"gpurent_api_key":  {"rotate_before_days", "allow_self_revoke"},
}

// costs.jq or notReviewed lists every argument of every resource.
func TestCIReview_HasEveryArgument(t *testing.T) {
	_, schemas := acctest.ProviderServer(t)
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
		t.Error("too few resources were found")
	}
}

// inert matches a code span without characters that could end it or a table cell, or be invisible.
var inert = regexp.MustCompile("`[\\p{L}\\p{N} ._:/,+=\"\\[\\]!'()*~%-]+`")

// Names come from the configuration of a pull request. In the comment they must not become mentions, links or HTML.
func TestCIComment_NamesAreInert(t *testing.T) {
	needs(t, "jq")
	names := []string{
		"`", "``", "` @everyone `", "a|b", `a\`, `a\\`, "<script>", "<!-- x", "-->", "<b onclick=x>", "&lt;b&gt;", "@owner",
		"@group/team", "#1", "!1", "research/servers#1", "~label", "[text](https://evil.test)", "![x](//evil.test/x.png)",
		"https://evil.test", "www.evil.test", "a@evil.test", "*bold*", "_a_", "line\n/close\n", "\r\n\r\n# Title",
		"\u2028\u202e\u200b", "$`x`$", ":tada:", "[[_TOC_]]",
		"\n<!-- reviewed: W10= -->\n",
	}
	var plans [][]string
	var everything []string
	for _, name := range names {
		quoted := quotedJSON(t, name)
		change := func(kind, change string) string {
			return `{"address": ` + quoted + `, "mode": "managed", "type": "` + kind + `", "change": ` + change + `}`
		}
		changes := []string{
			change("gpurent_instance", `{"actions": ["create"], "after": {"max_price_kop_h": 5}}`),
			change("gpurent_instance", `{"actions": ["update"], "before": {"status": "running", "max_price_kop_h": 5},
				"after": {"max_price_kop_h": 6}}`),
			change("gpurent_api_key", `{"actions": ["create"],
				"after": {"scopes": [`+quoted+`], "expires_in_days": `+quoted+`}}`),
			change("gpurent_ssh_key", `{"actions": ["create"], "after": {"fingerprint": `+quoted+`}}`),
			change("other", `{"actions": ["create"]}`),
		}
		plans, everything = append(plans, changes), append(everything, changes...)
	}
	// Without the code spans all comments are equal.
	const want = "<!-- gpurent costs -->\n### Server changes\n\n" +
		"| server | change | price before | price after |\n|---|---|---:|---:|\n" +
		"| NAME | create | 0,00 ₽ | up to 0,05 ₽ |\n| NAME | update | 0,00 ₽ | 0,00 ₽ |\n" +
		"| **per hour** | | **0,00 ₽** | **up to 0,05 ₽** |\n" +
		"| **per month (730 hours)** | | **0,00 ₽** | **up to 36,50 ₽** |\n\n" +
		"The plan adds up to 0,05 ₽ per hour (up to 36,50 ₽ per month) and removes 0,00 ₽ per hour (0,00 ₽ per month).\n" +
		"New servers count with their price cap. Disk beyond an offer's base disk is not included.\n" +
		"Other changed resources: NAME, NAME, NAME.\n" +
		"- The price cap of NAME: 0,05 ₽ per hour before, 0,06 ₽ after.\n" +
		"- New API key NAME: NAME, expires in NAME days.\n- New SSH key NAME: NAME.\n\n"
	for n, all := range costsOfPlans(t, plans...) {
		costs, list, _ := strings.Cut(all, "<!-- reviewed: ")
		if !regexp.MustCompile(`^[A-Za-z0-9+/=]+ -->\n$`).MatchString(list) {
			t.Errorf("%q: the comment ends with %q", names[n], list)
		}
		if inert.ReplaceAllString(costs, "NAME") != want {
			t.Errorf("%q is not inert in the comment:\n%s", names[n], costs)
		}
	}
	// The log of the guard has no control characters.
	printed, err := guard(t, []string{"sh"}, costsOfPlan(t, everything...), "")
	if err == nil || strings.Count(printed, "\n") != 2+4*len(names) || strings.ContainsAny(printed, "\r\x1b") {
		t.Errorf("the guard ended with %v and printed %q", err, printed)
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
