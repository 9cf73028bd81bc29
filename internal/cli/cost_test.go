package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/testenv"
)

// recordedPlan returns the file of a plan that a CLI made.
func recordedPlan(name string) string {
	return filepath.Join("..", "cost", "testdata", "plans", name+".terraform.json")
}

// costOf runs the command and returns its output and exit code.
func costOf(args ...string) (stdout, stderr string, code int) {
	return run(append([]string{"cost"}, args...)...)
}

// The plan create rents a server for up to 90 rubles per hour.
func TestCost_ExitCodes(t *testing.T) {
	testenv.SetHome(t, t.TempDir())
	t.Setenv("GPURENT_BASE_URL", "")
	comment, _, _ := costOf(recordedPlan("create"), "--format", "markdown")
	review, nothing, corrupt := writeFile(t, comment), writeFile(t, ""), writeFile(t, comment[:len(comment)-9])
	plan, uncapped, destroy := recordedPlan("create"), recordedPlan("create-without-cap"), recordedPlan("destroy")
	for name, test := range map[string]struct {
		args   []string
		code   int
		stderr string
	}{
		"no limit":            {[]string{plan}, 0, ""},
		"within the limits":   {[]string{"--max-burn", "90", plan, "--max-added=90.00"}, 0, ""},
		"above max-burn":      {[]string{plan, "--max-burn", "89.99"}, 3, "exceeds a limit"},
		"above max-added":     {[]string{plan, "--max-added", "89.99"}, 3, "exceeds a limit"},
		"no cap":              {[]string{uncapped}, 0, ""},
		"no cap with a limit": {[]string{uncapped, "--max-added", "1000000"}, 3, "exceeds a limit"},
		"less":                {[]string{destroy, "--max-added", "0"}, 0, ""},
		"reviewed":            {[]string{plan, "--reviewed", review}, 0, ""},
		"nothing reviewed":    {[]string{plan, "--reviewed", nothing}, 4, "create is not in the review"},
		"another plan":        {[]string{destroy, "--reviewed", review}, 4, "destroy is not in the review"},
		"both":                {[]string{plan, "--reviewed", nothing, "--max-burn", "1"}, 4, "exceeds a limit"},
		"a corrupt review":    {[]string{plan, "--reviewed", corrupt}, 1, "corrupt"},
		"no such review":      {[]string{plan, "--reviewed", review + "x"}, 1, "open "},
		"no such plan":        {[]string{review + "x"}, 1, "open "},
		"not a plan":          {[]string{nothing}, 1, "terraform show -json PLAN"},
		"prices of nowhere":   {[]string{plan, "--prices"}, 2, "the address of the service is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, code := costOf(test.args...)
			if code != test.code || !strings.Contains(stderr, test.stderr) || (stderr == "") != (code == 0) {
				t.Errorf("exit %d: %s", code, stderr)
			}
			if printed := stdout != ""; printed != (code == 0 || code >= 3) {
				t.Errorf("the output is %q", stdout)
			}
			if code == 4 && len(test.args) == 5 && !strings.Contains(stderr, "not in the review") {
				t.Errorf("it does not report both: %s", stderr)
			}
		})
	}
}

// The three formats, from a file and from stdin.
func TestCost_Formats(t *testing.T) {
	plan := recordedPlan("fleet-up")
	table, _, _ := costOf(plan)
	if !strings.HasPrefix(table, "SERVER ") || strings.Contains(table, "\x1b") {
		t.Errorf("the table is %q", table)
	}
	markdown, _, _ := costOf(plan, "--format", "markdown")
	if !strings.HasPrefix(markdown, "<!-- gpurent costs -->\n") || !strings.HasSuffix(markdown, " -->\n") {
		t.Errorf("the comment is %q", markdown)
	}
	data, _, _ := costOf(plan, "--format=json")
	var report struct {
		FormatVersion string `json:"format_version"`
		Servers       []map[string]any
		Totals        map[string]any
	}
	if err := json.Unmarshal([]byte(data), &report); err != nil {
		t.Fatal(err)
	}
	if report.FormatVersion != "1.0" || len(report.Servers) != 1 || report.Servers[0]["action"] != "scale" ||
		report.Totals["after_kop_h"] != 32264.0 {
		t.Errorf("%+v", report)
	}
	content, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	u := newUser(t)
	u.stdin = string(content)
	for _, args := range [][]string{{"cost"}, {"cost", "-"}} {
		if stdout, stderr, code := u.run(args...); code != 0 || stdout != table {
			t.Errorf("%v: exit %d, %s%s", args, code, stdout, stderr)
		}
	}
}

// With --prices, the prices and the balance come from the service of the environment.
func TestCost_Prices(t *testing.T) {
	testenv.SetHome(t, t.TempDir())
	env := acctest.Start(t)
	t.Setenv("GPURENT_BASE_URL", env.BaseURL)
	for key, want := range map[string]string{env.APIKey: "enough for ", "": "There is no API key"} {
		t.Setenv("GPURENT_API_KEY", key)
		stdout, stderr, code := costOf(recordedPlan("create"), "--prices", "--max-added", "46.27")
		if code != 0 || !strings.Contains(stdout, "now 46.27 ₽") || !strings.Contains(stdout, want) {
			t.Errorf("exit %d: %s%s", code, stdout, stderr)
		}
	}
	t.Setenv("GPURENT_API_KEY", "gpr_"+strings.Repeat("x", 40))
	stdout, stderr, code := costOf(recordedPlan("create"), "--prices")
	if code != 1 || stdout != "" || !strings.Contains(stderr, "401") || !strings.Contains(stderr, " login --replace\"") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}
