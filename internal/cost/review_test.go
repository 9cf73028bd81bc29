package cost_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/cost"
)

// A list that is damaged is an error, and no list means that nothing was reviewed.
func TestReadReview(t *testing.T) {
	report := reportOf(t, creation(instance, limited))
	comment := comment(t, report)
	data, err := report.JSON()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		review   string
		reviewed int // servers; -1 for an error
	}{
		"an empty file":           {"", 0},
		"a comment without list":  {"<!-- gpurent costs -->\nlooks good", 0},
		"the comment":             {comment, 1},
		"with CRLF":               {strings.ReplaceAll(comment, "\n", "\r\n"), 1},
		"with CRLF and an answer": {strings.ReplaceAll(comment+"good", "\n", "\r\n"), 1},
		"the JSON":                {data, 1},
		"a list that expands":     {"<!-- gpurent cost: " + expanding(t) + " -->", -1},
		"the JSON with a mark":    {"\ufeff" + data, 1},
		"a cut list":              {comment[:len(comment)-40] + " -->\n", -1},
		"a cut line":              {comment[:len(comment)-5], -1},
		"two lists":               {comment + comment, -1},
		"another list":            {"<!-- gpurent cost: W10= -->", -1},
		"an empty list":           {"<!-- gpurent cost:  -->", -1},
		"cut JSON":                {data[:len(data)-9], -1},
		"two documents":           {data + data, -1},
		"another version":         {strings.Replace(data, `"1.0"`, `"2.0"`, 1), -1},
		"JSON of something else":  {`{"format_version": 1}`, -1},
		"a plan":                  {`{"resource_changes": []}`, -1},
		"a list with a bad digit": {strings.Replace(comment, "cost: H4", "cost: *4", 1), -1},
	} {
		t.Run(name, func(t *testing.T) {
			read, err := cost.ReadReview([]byte(test.review))
			if (err != nil) != (test.reviewed < 0) || err == nil && len(read.Servers) != test.reviewed {
				t.Errorf("%d servers, %v", len(read.Servers), err)
			}
			if err != nil {
				return
			}
			if refused := len(cost.Compare(read, report)) > 0; refused != (test.reviewed == 0) {
				t.Errorf("refused: %v", refused)
			}
		})
	}
}

// expanding returns a list of a few kilobytes that decodes to 20 MB.
func expanding(t *testing.T) string {
	t.Helper()
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	list := `{"format_version": "1.0", "totals": {}` + strings.Repeat(" ", 20<<20) + "}"
	if _, err := writer.Write([]byte(list)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes())
}

// notReviewed lists the arguments that neither cost money nor give access, or can be changed in place.
var notReviewed = map[string][]string{
	"gpurent_instance": {
		"max_price_kop_h", // compared as a number
		"name", "idempotency_key", "desired_state", "on_outbid", "keep_on_timeout", "replace_on", "timeouts",
		"wait_for_offer", "ready_when",
	},
	"gpurent_fleet": {
		"max_price_kop_h", // compared as numbers
		"desired_state", "allocation", "min_ready", "on_outbid", "update", "max_unavailable", "wait_for_offer",
		"ready_when", "timeouts",
	},
	"gpurent_template": {"description"},
	"gpurent_api_key":  {"rotate_before_days"},
}

// A review shows every argument of every resource, except those in notReviewed.
func TestReviewedArguments_AreComplete(t *testing.T) {
	_, schemas := acctest.ProviderServer(t)
	for resource, schema := range schemas.ResourceSchemas {
		want := slices.Clone(notReviewed[resource])
		after := map[string]bool{}
		for _, a := range schema.Block.Attributes {
			if a.Required || a.Optional {
				after[a.Name] = true
			}
		}
		values := make([]string, 0, len(after))
		for name := range after {
			values = append(values, fmt.Sprintf("%q: {}", name))
		}
		report := reportOf(t, creation(resource, strings.Join(values, ",")))
		var change cost.Change
		for _, s := range report.Servers {
			change = s.Change
		}
		for _, other := range report.Others {
			change = other
		}
		want = append(want, slices.Collect(maps.Keys(change.Arguments))...)
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(after)); !slices.Equal(got, want) {
			t.Errorf("%s has the arguments %v; the review and this test have %v", resource, got, want)
		}
	}
	if len(schemas.ResourceSchemas) < 5 {
		t.Error("too few resources were found")
	}
}
