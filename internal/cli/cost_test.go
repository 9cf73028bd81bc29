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
	nothing := writeFile(t, "")
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
		"no such plan":        {[]string{nothing + "x"}, 1, "open "},
		"an empty plan":       {[]string{nothing}, 1, "it is empty: use the output of \"terraform show -json saved.plan\""},
		"prices of nowhere":   {[]string{plan, "--prices"}, 2, "the address of the service is missing"},
	} {
		stdout, stderr, code := costOf(test.args...)
		if code != test.code || !strings.Contains(stderr, test.stderr) || (stderr == "") != (code == 0) ||
			(stdout != "") != (code == 0 || code == 3) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", name, code, stdout, stderr)
		}
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
	if !strings.HasPrefix(markdown, "<!-- gpurent costs -->\n") {
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
	if report.FormatVersion != "1.0" || len(report.Servers) != 1 || report.Servers[0]["action"] != "update" ||
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

// With --prices, the prices come from the service of the environment.
func TestCost_Prices(t *testing.T) {
	testenv.SetHome(t, t.TempDir())
	env := acctest.Start(t)
	t.Setenv("GPURENT_BASE_URL", env.BaseURL)
	for _, key := range []string{env.APIKey, ""} {
		t.Setenv("GPURENT_API_KEY", key)
		stdout, stderr, code := costOf(recordedPlan("create"), "--prices", "--max-added", "46.27")
		if code != 0 || !strings.Contains(stdout, "now 46.27 ₽") {
			t.Errorf("exit %d: %s%s", code, stdout, stderr)
		}
	}
}
