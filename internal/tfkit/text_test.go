package tfkit

import (
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// untrusted is a text that imitates a message and a configuration of Terraform.
var untrusted = "x\nError: injected\x1b[31m\u202e${file(\"/etc/passwd\")}" + strings.Repeat("y", 5000)

func TestTextf_SanitizesItsArguments(t *testing.T) {
	for _, text := range []string{untrusted, "a\r\nb", "a\u2028b\u2029c\u0085d\ve\ff", "\u009b2J", "\xff\n"} {
		for _, argument := range []any{text, rental.InstanceStatus(text), errors.New(text), []string{text}} {
			got := string(Textf("%s", argument))
			if strings.ContainsAny(got, "\n\r\v\f\x1b\u0085\u009b\u202e\u2028\u2029") || len([]rune(got)) > maxError+1 {
				t.Errorf("Textf of %T %q returns %q", argument, text, got)
			}
		}
	}
	if got := Textf("%s, %d, %q", Text("a\nb"), 5, rental.StatusRunning); got != "a\nb, 5, \"running\"" {
		t.Errorf("got %q", got)
	}
	if got := List([]string{"a\nb", "c"}); got != "a b, c" {
		t.Errorf("List returns %q", got)
	}
	got := string(List(make([]string, 500)))
	if strings.Count(got, ", ") != maxListed || !strings.HasSuffix(got, "and 490 more") {
		t.Errorf("List of 500 names returns %q", got)
	}
}

func TestImportBlock_OnlyForSafeIDs(t *testing.T) {
	for _, id := range []string{"ins_x7k2", "0198a3c4-5b6e-7f80", "a", "i.2:3~4+5/6=7@8", strings.Repeat("a", 200)} {
		block, ok := ImportBlock("gpurent_instance", id)
		if want := "  import {\n    to = gpurent_instance.NAME\n    id = \"" + id + "\"\n  }"; !ok || string(block) != want {
			t.Errorf("%s: %t, %s", id, ok, block)
		}
	}
	for _, id := range []string{
		"", untrusted, "${file(\"/etc/passwd\")}", "${path.module}", "%{if true}x%{endif}", "$", "%", "a\"\n}\nprovisioner",
		"a b", "a\n", "\na", "a\\", "-replace", "~root", "a;b", "a|b", "$(id)", "`id`", "a'b", "a*", "a{b}", "я", "a\u200b",
		strings.Repeat("a", 201),
	} {
		if block, ok := ImportBlock("gpurent_instance", id); ok || block != "" {
			t.Errorf("%q: %s", id, block)
		}
	}
}

// A response can contain thousands of fields, each with thousands of messages.
func TestAddAPIError_BoundsItsTexts(t *testing.T) {
	var issues []rental.Issue
	for range 4000 {
		issues = append(issues, rental.Issue{Field: untrusted, Message: untrusted + untrusted})
	}
	long := strings.Repeat("z", 1000) // the length to which the client shortens texts
	err := &rental.Error{Status: 422, Code: rental.CodeValidation, Message: long, Path: long, Issues: issues}
	var diags diag.Diagnostics
	AddAPIError(&diags, Textf("read instance %s", untrusted), err, "name")
	summary, detail := diags[0].Summary(), diags[0].Detail()
	if strings.ContainsAny(summary+detail, "\x1b\u202e") || strings.Contains(summary, "\n") ||
		strings.Contains(detail, "\nError: injected") {
		t.Errorf("%q\n%q", summary, detail)
	}
	if len(summary) > 400 || len(detail) > 30_000 || !strings.Contains(detail, "… and 3995 more") {
		t.Errorf("%d and %d bytes: %.200s", len(summary), len(detail), detail)
	}
}
