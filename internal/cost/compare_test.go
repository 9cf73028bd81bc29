package cost_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/cost"
)

// differences returns the result of the guard. The review passes through the comment.
func differences(t testing.TB, planned, reviewed cost.Report) string {
	t.Helper()
	read, err := cost.ReadReview([]byte(strings.ReplaceAll(comment(t, reviewed), "\n", "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, difference := range cost.Compare(read, planned) {
		texts = append(texts, difference.String())
	}
	return strings.Join(texts, "\n")
}

// expectRefused checks the result of the guard; empty means that it accepts the plan.
func expectRefused(t testing.TB, got, want string) {
	t.Helper()
	if (got == "") != (want == "") || !strings.Contains(got, want) {
		t.Errorf("the guard returned %q, want %q", got, want)
	}
}

// The guard refuses each rental, creation and destruction, and each forgotten resource, that was not in the review.
func TestCompare_NotReviewed(t *testing.T) {
	planned := map[string]string{
		"create":  creation(instance, limited),
		"replace": changeOf(instance, "x", `"actions": ["delete", "create"], "before": {`+runs+`}, "after": {`+limited+`}`),
		"destroy": changeOf(instance, "x", `"actions": ["delete"], "before": {`+runs+`}, "after": null`),
		"forget":  changeOf(instance, "x", `"actions": ["forget"], "before": {`+runs+`}, "after": null`),
	}
	for _, kind := range []string{"gpurent_template", "gpurent_ssh_key", "gpurent_api_key"} {
		planned["create "+kind] = creation(kind, `"name": "x"`)
		planned["destroy "+kind] = changeOf(kind, "x", `"actions": ["delete"], "before": {"name": "x"}, "after": null`)
	}
	for name, change := range planned {
		t.Run(name, func(t *testing.T) {
			report := reportOf(t, change)
			action, _, _ := strings.Cut(name, " ")
			expectRefused(t, differences(t, report, reportOf(t)), action+" is not in the review")
			expectRefused(t, differences(t, report, report), "")
			for other, change := range planned {
				if other == name || !strings.HasPrefix(change[:len(`{"address": "gpurent_instance`)], change[:29]) {
					continue
				}
				covered := name == "create" && other == "replace" // the apply of the review ended after the destruction
				if got := differences(t, report, reportOf(t, planned[other])); (got == "") != covered {
					t.Errorf("after the review of %s: %q", other, got)
				}
			}
		})
	}
	for _, change := range []string{
		update(instance, strings.Replace(runs, `"status": "running"`, `"status": "stopped"`, 1), limited),
		update(instance, runs, strings.Replace(limited, `"running"`, `"stopped"`, 1)),
		update(instance, runs+`, "name": "a", "max_price_kop_h": 9000`, limited+`, "name": "b"`),
		update(instance, runs+`, "max_price_kop_h": 9000`, strings.Replace(limited, "9000", "8000", 1)),
		changeOf("terraform_data", "x", `"actions": ["delete"], "before": {}, "after": null`),
	} {
		expectRefused(t, differences(t, reportOf(t, change), reportOf(t)), "")
	}
}

// The review of one server approves no other one, and that of a start no destruction.
func TestCompare_SeveralServers(t *testing.T) {
	other := changeOf(instance, "other", `"actions": ["create"], "before": null, "after": {`+limited+`}`)
	destroy := changeOf(instance, "gone", `"actions": ["delete"], "before": {`+runs+`}, "after": null`)
	reviewed := reportOf(t, creation(instance, limited), destroy)
	expectRefused(t, differences(t, reportOf(t, creation(instance, limited)), reviewed), "")
	expectRefused(t, differences(t, reportOf(t, creation(instance, limited), destroy, other), reviewed),
		".other`: create is not in the review")
	start := update(instance, strings.Replace(runs, `"status": "running"`, `"status": "stopped"`, 1), limited)
	expectRefused(t, differences(t, reportOf(t, changeOf(instance, "x", `"actions": ["delete"], "before": {`+runs+`}`)),
		reportOf(t, start)), ".x`: destroy is not in the review")
}

// The guard compares the arguments with the review.
func TestCompare_Arguments(t *testing.T) {
	type resource struct{ kind, after string }
	server := resource{instance, `"name": "a", "idempotency_key": "a", "template": "pytorch", "disk_gb": 60,
		"ssh_key_ids": ["key_1"], "type": "on_demand", "max_price_kop_h": 9000, "offer_id": null,
		"offer_query": {"gpu": ["rtx_4090"], "country": null}, "image": null`}
	apiKey := resource{"gpurent_api_key", `"name": "ci", "scopes": ["user:read"], "expires_in_days": 30`}
	sshKey := resource{"gpurent_ssh_key", `"name": "ci", "public_key": "AAAA"`}
	template := resource{"gpurent_template", `"name": "t", "image": "ubuntu:24.04", "onstart": "train",
		"env": {"true": "a"}`}
	for name, test := range map[string]struct {
		resource
		old, new string
		refused  string
	}{
		"the same server":            {server, "", "", ""},
		"a higher cap":               {server, "9000", "9001", "cap is 9001 kopecks per hour, but 9000 in the review"},
		"a lower cap":                {server, "9000", "8000", ""},
		"no cap":                     {server, "9000", "null", "no price cap"},
		"another query":              {server, "rtx_4090", "h100", "review: offer_query"},
		"another filter":             {server, `"country": null`, `"country": ["RU"]`, "review: offer_query"},
		"an image":                   {server, `"image": null`, `"image": "evil:1"`, "review: image"},
		"a larger disk":              {server, "60", "2000", "review: disk_gb"},
		"a smaller disk":             {server, "60", "50", ""},
		"one more SSH key":           {server, `"key_1"`, `"key_1", "key_2"`, "review: ssh_key_ids"},
		"all SSH keys":               {server, `["key_1"]`, "null", "review: ssh_key_ids"},
		"two at once":                {server, `"on_demand"`, `"interruptible", "disk_gb": 80`, "review: disk_gb, type"},
		"another name":               {server, `"name": "a", "idempotency_key": "a"`, `"name": "b"`, ""},
		"more scopes":                {apiKey, `:read"`, `:read", "user:write"`, "review: scopes"},
		"a key that never expires":   {apiKey, "30", "null", "review: expires_in_days"},
		"a key that expires earlier": {apiKey, "30", "7", ""},
		"a key that expires later":   {apiKey, "30", "31", "review: expires_in_days"},
		"another SSH key":            {sshKey, "AAAA", "BBBB", "review: public_key"},
		"another variable":           {template, `"a"`, `"b"`, "review: env"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(test.after, test.old) {
				t.Fatalf("%s has no %s", test.after, test.old)
			}
			planned := strings.Replace(test.after, test.old, test.new, 1)
			got := differences(t, reportOf(t, creation(test.kind, planned)), reportOf(t, creation(test.kind, test.after)))
			expectRefused(t, got, test.refused)
		})
	}
}

// A cap that is raised must be in the review, and a review without a cap approves no price.
func TestCompare_Caps(t *testing.T) {
	raise := func(limit string) cost.Report {
		return reportOf(t, update(instance, runs+`, "max_price_kop_h": 9000`, strings.Replace(limited, "9000", limit, 1)))
	}
	none := reportOf(t)
	expectRefused(t, differences(t, raise("10000"), raise("12000")), "")
	expectRefused(t, differences(t, raise("12000"), raise("10000")), "the price cap is 12000")
	expectRefused(t, differences(t, raise("12000"), none), "update is not in the review")
	expectRefused(t, differences(t, raise("null"), raise("null")), "no price cap")
	expectRefused(t, differences(t, reportOf(t, creation(instance, limited)),
		reportOf(t, creation(instance, strings.Replace(limited, "9000", "null", 1)))), "not known in the review")
	bid := update(instance, strings.NewReplacer("on_demand", "interruptible", `"status": "running"`, `"status": "outbid"`).
		Replace(runs), `"type": "interruptible", "desired_state": "running"`)
	expectRefused(t, differences(t, reportOf(t, bid), reportOf(t, bid)), "no price cap")
}

// A fleet may rent and destroy at most the members of the review.
func TestCompare_Fleets(t *testing.T) {
	const caps = `"max_price_kop_h": 5000`
	fleet := func(size int, caps string, members ...string) string {
		for slot := range members {
			members[slot] = fmt.Sprintf(`"%d": {"id": "ins_%d", "status": "%s",
				"running_kop_h": 4000}`, slot, slot, members[slot])
		}
		return fmt.Sprintf(`"name": "train", "size": %d, "type": "on_demand", "template": "pytorch", "disk_gb": 60,
			"desired_state": "running", "offer_queries": [{"gpu": ["rtx_4090"]}], %s, "instances": {%s}`,
			size, caps, strings.Join(members, ","))
	}
	change := func(before, after string) cost.Report { return reportOf(t, update("gpurent_fleet", before, after)) }
	two, three := fleet(2, caps, "running", "running"), fleet(3, caps, "running", "running", "running")
	other := func(old, changed string) string { return strings.Replace(fleet(3, caps), old, changed, 1) }
	none := reportOf(t)
	for name, test := range map[string]struct {
		planned, reviewed cost.Report
		refused           string
	}{
		"a repair": {change(fleet(2, caps, "running", "failed"), fleet(2, caps)), none, ""},
		"a repair without a cap": {
			change(fleet(2, `"x": 1`, "running", "failed"), fleet(2, `"x": 1`)), none, "no price cap",
		},
		"a stop":                    {change(two, strings.Replace(fleet(2, caps), `"running"`, `"stopped"`, 1)), none, ""},
		"a larger size":             {change(two, fleet(3, caps)), none, "scale is not in the review"},
		"a smaller size":            {change(two, fleet(1, caps)), none, "scale is not in the review"},
		"as reviewed":               {change(two, fleet(3, caps)), change(two, fleet(3, caps)), ""},
		"the rest of the review":    {change(three, fleet(4, caps)), change(two, fleet(4, caps)), ""},
		"fewer than reviewed":       {change(two, fleet(3, caps)), change(two, fleet(4, caps)), ""},
		"more than reviewed":        {change(two, fleet(4, caps)), change(two, fleet(3, caps)), "the review: size"},
		"destroys more":             {change(three, fleet(0, caps)), change(three, fleet(1, caps)), "the review: size"},
		"destroys fewer":            {change(three, fleet(2, caps)), change(three, fleet(1, caps)), "the price cap is 10000"},
		"destroys instead of rents": {change(two, fleet(1, caps)), change(two, fleet(3, caps)), "the review: size"},
		"another template":          {change(two, other("pytorch", "x")), change(two, fleet(3, caps)), "review: template"},
		"another query":             {change(two, other("rtx_4090", "x")), change(two, fleet(3, caps)), "review: offer_q"},
		"a higher cap": {
			change(two, fleet(3, `"max_price_kop_h": 9000`)), change(two, fleet(3, caps)), "the price cap is 27000",
		},
		"a growth after a reviewed shrink": {
			change(fleet(1, `"max_price_kop_h": 5000`, "running"), fleet(3, `"max_price_kop_h": 5000`)),
			change(fleet(5, `"max_price_kop_h": 5000`, "running", "running", "running", "running", "running"),
				fleet(3, `"max_price_kop_h": 5000`)), "review: size",
		},
		"a lower cap": {change(two, fleet(2, `"max_price_kop_h": 4000`)), none, ""},
		"an unknown size": {
			reportOf(t, strings.Replace(creation("gpurent_fleet", fleet(2, `"max_price_kop_h": 5000`)), `"after_unknown": {}`,
				`"after_unknown": {"size": true}`, 1)), none, "its price cannot be determined",
		},
	} {
		t.Run(name, func(t *testing.T) {
			expectRefused(t, differences(t, test.planned, test.reviewed), test.refused)
		})
	}
}

// After a failed apply, the next plan has values for what the first one created. --reviewed accepts this only for
// references to templates and SSH keys that the review showed as created.
func TestCompare_KnownAfterApply(t *testing.T) {
	create := func(after, unknown string) string {
		return changeOf(instance, "x", `"actions": ["create"], "before": null,
			"after": {"max_price_kop_h": 1, "disk_gb": 10, `+after+`}, "after_unknown": {`+unknown+`}`)
	}
	// next is the plan after a failed apply that created the template "mine" and the key "key_9".
	next := func(after, unknown string) cost.Report {
		return cost.NewReport(parse(t, `{"format_version": "1.2", "resource_changes": [`+create(after, unknown)+`],
			"prior_state": {"values": {"root_module": {"resources": [
				{"address": "gpurent_template.t", "mode": "managed", "type": "gpurent_template", "values": {"id": "mine"}},
				{"address": "gpurent_template.other", "mode": "managed", "type": "gpurent_template", "values": {"id": "other"}},
				{"address": "gpurent_ssh_key.k", "mode": "managed", "type": "gpurent_ssh_key", "values": {"id": "key_9"}},
				{"address": "gpurent_ssh_key.other", "mode": "managed", "type": "gpurent_ssh_key", "values": {"id": "key_8"}}
			]}}}}`))
	}
	const unknown = `"template": true, "image": true, "ssh_key_ids": [false, true]`
	objects := []string{
		changeOf("gpurent_template", "t", `"actions": ["create"], "before": null, "after": {"name": "t"}`),
		changeOf("gpurent_ssh_key", "k", `"actions": ["create"], "before": null, "after": {"name": "k"}`),
	}
	reviewed := reportOf(t, append(objects, create(`"ssh_key_ids": ["key_1", null]`, unknown))...)
	expectRefused(t, differences(t, reviewed, reviewed), "")
	const known = `"template": "mine", "ssh_key_ids": `
	for after, want := range map[string]string{
		known + `["key_1", "key_9"]`:                      "",
		known + `["key_9"]`:                               "",
		known + `["key_1", "key_8"]`:                      "review: ssh_key_ids",
		known + `["key_1", "key_7"]`:                      "review: ssh_key_ids",
		known + `["key_1", "(known after apply)"]`:        "",
		`"template": "other", "ssh_key_ids": ["key_1"]`:   "review: template",
		`"template": "comfyui", "ssh_key_ids": ["key_1"]`: "review: template",
		known + `["key_1"], "image": "evil:1"`:            "review: image",
	} {
		imageUnknown := `"image": true`
		if strings.Contains(after, "evil") {
			imageUnknown = ""
		}
		expectRefused(t, differences(t, next(after, imageUnknown), reviewed), want)
	}
	all := reportOf(t, append(objects, create(`"ssh_key_ids": null`, `"ssh_key_ids": true`))...)
	expectRefused(t, differences(t, next(`"ssh_key_ids": ["key_9"]`, ``), all), "")
	expectRefused(t, differences(t, next(`"ssh_key_ids": ["key_1"]`, ``), all), "review: ssh_key_ids")
	expectRefused(t, differences(t, all, reportOf(t, create(`"ssh_key_ids": ["key_1"]`, ``))), "review: ssh_key_ids")
}

// Sensitive arguments cannot be reviewed, except those that often contain secrets.
func TestCompare_Sensitive(t *testing.T) {
	for sensitive, want := range map[string]string{
		`"disk_gb": true`:                       "disk_gb is sensitive",
		`"offer_query": {"gpu": [true]}`:        "offer_query is sensitive",
		`"ssh_key_ids": true`:                   "ssh_key_ids is sensitive",
		`"name": true, "idempotency_key": true`: "",
	} {
		r := reportOf(t, changeOf(instance, "x", `"actions": ["create"], "before": null, "after": {"max_price_kop_h": 1,
			"disk_gb": 10, "name": "a", "ssh_key_ids": ["key_1"], "offer_query": {"gpu": ["a"]}},
			"after_sensitive": {`+sensitive+`}`))
		expectRefused(t, differences(t, r, r), want)
	}
	for kind, want := range map[string]string{
		"gpurent_api_key":  `scopes is sensitive`,
		"gpurent_ssh_key":  `public_key is sensitive`,
		"gpurent_template": ``,
	} {
		r := reportOf(t, changeOf(kind, "x", `"actions": ["create"], "before": null, "after": {"scopes": ["user:read"],
			"public_key": "ssh-ed25519 AAAA", "env": {"TOKEN": "x"}, "onstart": "x"},
			"after_sensitive": {"scopes": true, "public_key": true, "env": {"TOKEN": true}, "onstart": true}`))
		expectRefused(t, differences(t, r, r), want)
	}
}

// A replacement that was reviewed also destroys the object that a failed apply left behind.
func TestCompare_Deposed(t *testing.T) {
	deposed := reportOf(t, strings.Replace(changeOf(instance, "x", `"actions": ["delete"], "before": {`+runs+`}`),
		`"mode"`, `"deposed": "0123abcd", "mode"`, 1))
	replace := reportOf(t, changeOf(instance, "x", `"actions": ["create", "delete"], "before": {`+runs+`},
		"after": {`+limited+`}`))
	expectRefused(t, differences(t, deposed, reportOf(t)), "(deposed 0123abcd)`: destroy is not in the review")
	expectRefused(t, differences(t, deposed, deposed), "")
	expectRefused(t, differences(t, deposed, replace), "")
	expectRefused(t, differences(t, deposed, reportOf(t, creation(instance, limited))), "not in the review")
}

// The guard accepts each recorded plan after its own review, unless it has no price cap.
func TestCompare_RecordedPlans(t *testing.T) {
	for _, file := range recordedFiles(t) {
		report := cost.NewReport(readPlan(t, file))
		refused := ""
		switch name, _, _ := strings.Cut(file[len("testdata/plans/"):], "."); name {
		case "create-without-cap", "sensitive", "action-unknown":
			refused = "no price cap"
		case "unknown-arguments":
			refused = "its price cannot be determined"
		}
		t.Run(file, func(t *testing.T) { expectRefused(t, differences(t, report, report), refused) })
	}
}
