package cli_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/testenv"
)

// The list is public, so the command sends no key.
func TestGPUs_SendsNoKey(t *testing.T) {
	testenv.SetHome(t, t.TempDir())
	env := acctest.Start(t)
	t.Setenv("GPURENT_BASE_URL", env.BaseURL)
	t.Setenv("GPURENT_API_KEY", env.APIKey)
	if table, stderr, code := run("gpus"); code != 0 || !strings.Contains(table, "\nrtx_4090 ") {
		t.Errorf("exit %d: %s%s", code, table, stderr)
	}
	for _, request := range env.Requests() {
		if request.KeyID != "" || request.Method != http.MethodGet {
			t.Errorf("%+v", request)
		}
	}
}

const catalog = `{"data":[
	{"slug":"none","name":"None","vram_gb":8,"tier":"legacy","available_gpus":0,"from_kop_h":null,
		"from_interruptible_kop_h":null},
	{"slug":"evil","name":"\u001b[2J\u202ered\n","vram_gb":80,"tier":"datacenter","available_gpus":3,"from_kop_h":123456,
		"from_interruptible_kop_h":70000},
	{"slug":"broken","from_kop_h":"free"},
	{"slug":"cheap","name":"Cheap","vram_gb":12,"tier":"consumer","available_gpus":41,"from_kop_h":964,
		"from_interruptible_kop_h":null}
],"next_cursor":null}`

// The exact output: names of the service are inert in the table, and data in the JSON.
func TestGPUs_Formats(t *testing.T) {
	testenv.SetHome(t, t.TempDir())
	env := acctest.Start(t, acctest.Intercept(simtest.Request("GET", "/gpus").Do(simtest.Respond(200, catalog))))
	t.Setenv("GPURENT_BASE_URL", env.BaseURL)
	const warning = "Warning: The list lacks entries with invalid data: 1.\n"
	table, stderr, code := run("gpus")
	want := `SLUG    NAME    MEMORY   AVAILABLE   ON DEMAND FROM   INTERRUPTIBLE FROM
cheap   Cheap   12 GB    41          9.64 ₽           -
evil    red     80 GB    3           1,234.56 ₽       700.00 ₽
none    None    8 GB     0           -                -

Prices of one GPU per hour at ` + env.BaseURL + `; "-": no offer.
In a configuration: offer_query = { gpu = ["SLUG"] }
`
	if code != 0 || stderr != warning || table != want {
		t.Errorf("exit %d, %q\n%s", code, stderr, table)
	}
	text, stderr, code := run("gpus", "--format=json")
	want = `{
  "format_version": "1.0",
  "base_url": "` + env.BaseURL + `",
  "gpus": [
    {
      "slug": "cheap",
      "name": "Cheap",
      "vram_gb": 12,
      "tier": "consumer",
      "available_gpus": 41,
      "from_kop_h": 964,
      "from_interruptible_kop_h": null
    },`
	if code != 0 || stderr != warning || !strings.HasPrefix(text, want) || slices.Contains([]byte(text), '\x1b') {
		t.Errorf("exit %d, %q\n%s", code, stderr, text)
	}
}

func TestGPUs_ExitCodes(t *testing.T) {
	testenv.SetHome(t, t.TempDir())
	t.Setenv("GPURENT_API_KEY", "")
	env := acctest.Start(t, acctest.Intercept(simtest.Request("GET", "/gpus").Do(simtest.Fail(404))))
	for _, test := range []struct {
		address, arguments string
		code               int
		want               string
	}{
		{"", "", 2, "the address of the service is missing: set GPURENT_BASE_URL, or log in"},
		{env.BaseURL, "--format markdown", 2, `unknown format "markdown": use table, json`},
		{env.BaseURL, "rtx_4090", 2, `unexpected argument "rtx_4090"`},
		{env.BaseURL, "", 1, "cannot list the GPU models: "},
	} {
		t.Setenv("GPURENT_BASE_URL", test.address)
		stdout, stderr, code := run(append([]string{"gpus"}, strings.Fields(test.arguments)...)...)
		if code != test.code || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, test.want) {
			t.Errorf("%+v: exit %d, stdout %q, stderr %q", test, code, stdout, stderr)
		}
	}
}
