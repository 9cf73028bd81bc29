package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/cli"
)

const program = "terraform-provider-gpurent"

// run runs a command in this process.
func run(arguments ...string) (stdout, stderr string, code int) {
	var out, problems bytes.Buffer
	code = cli.Main(arguments, &out, &problems)
	return out.String(), problems.String(), code
}

func TestCommands_UsageErrors(t *testing.T) {
	for _, line := range []string{
		"simulate", "--verbose", "version now", "simulator --clock sun", "simulator --boot soon", "simulator --boot",
		"simulator --seed -1", "simulator --time-scale -2", "simulator --time-scale 0", "simulator --time-scale -0",
		"simulator --time-scale NaN", "simulator --time-scale 2000000", "simulator --boot 0", "simulator --boot -1s",
		"simulator --clock=", "simulator --market=", "simulator --listen=", "simulator --state=", "simulator --api-key=",
		"simulator --api-key short", "simulator extra", "login now",
		"login --no-browser=maybe", "logout now", "logout --client-name x", "help simulate", "cost --format html",
		"cost --max-burn ten", "cost --max-added -5", "cost a.json b.json",
	} {
		stdout, stderr, code := run(strings.Fields(line)...)
		if code != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "Error: ") {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want exit 2 and one line on stderr", line, code, stdout, stderr)
		}
	}
}

// A mistyped command or flag is an error with the nearest known one.
func TestCommands_NamesTheNearest(t *testing.T) {
	const unknown, help = "unknown command ", " See " + program
	for line, want := range map[string]string{
		"unmanged":                unknown + `"unmanged": did you mean unmanaged?` + help,
		"Cost":                    unknown + `"Cost": did you mean cost?` + help,
		"gpu":                     unknown + `"gpu": did you mean gpus?` + help,
		"sim":                     unknown + `"sim": did you mean simulator?` + help,
		"log":                     unknown + `"log": did you mean login?` + help,
		"vresion":                 unknown + `"vresion": did you mean version?` + help,
		"lgoin":                   unknown + `"lgoin": did you mean login?` + help,
		"apply":                   unknown + `"apply".` + help,
		"x":                       unknown + `"x".` + help,
		"cost --price":            "unknown flag --price: did you mean --prices?" + help + " cost",
		"cost -formt=json x.json": "unknown flag --formt: did you mean --format?" + help + " cost",
		"cost --max-burn":         "flag needs an argument: -max-burn." + help + " cost",
	} {
		if _, stderr, code := run(strings.Fields(line)...); code != 2 || stderr != "Error: "+want+" --help.\n" {
			t.Errorf("%s: exit %d, %q, want %q", line, code, stderr, want)
		}
	}
}

var documented = regexp.MustCompile(`\nDocumentation: https://github\.com/gpurent/\S+?/blob/main/(\S+)\n$`)

// Each help has an example and the address of a page of the repository.
func TestCommands_HelpHasExampleAndPage(t *testing.T) {
	list, _, _ := run("--help")
	commands := regexp.MustCompile(`(?m)^  (\w+) `).FindAllStringSubmatch(list, -1)
	if len(commands) != 7 {
		t.Errorf("%d commands:\n%s", len(commands), list)
	}
	for _, each := range append(commands, []string{"", ""}) {
		help, _, _ := run(strings.Fields("help " + each[1])...)
		page := documented.FindStringSubmatch(help)
		if page == nil || each[1] != "" && !strings.Contains(help, "\nExample:\n  ") {
			t.Errorf("%s", help)
			continue
		}
		file, anchor, _ := strings.Cut(page[1], "#")
		content, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		heading := "(?mi)^#+ " + strings.ReplaceAll(anchor, "-", "[^a-z0-9\n]+") + "[^a-z0-9\n]*$"
		if anchor != "" && !regexp.MustCompile(heading).Match(content) {
			t.Errorf("%s has no heading %s", file, anchor)
		}
	}
}

// Other users of the machine can read a command line, and the shell saves it. So no command accepts an API key of the
// real service, and errors do not repeat one.
func TestCommands_AcceptNoAPIKey(t *testing.T) {
	key := "gpr_" + strings.Repeat("CANARYcana", 4)
	const unknownFlag = "unknown flag --"
	for line, want := range map[string]string{
		"--api-key " + key:           unknownFlag,
		"login --api-key " + key:     unknownFlag,
		"login --api-key=" + key:     unknownFlag,
		"login --key " + key:         unknownFlag,
		"logout --api-key " + key:    unknownFlag,
		"unmanaged --api-key " + key: unknownFlag,
		"login --base-url https://" + key + "@rent.example/api/v1":  "base URL",
		"logout --base-url https://rent.example:" + key + "/api/v1": "base URL",
		"simulator --api-key " + key + "x":                          "",
	} {
		stdout, stderr, code := run(strings.Fields(line)...)
		if code != 2 || !strings.Contains(stderr, want) || strings.Contains(stdout+stderr, "CANARY") {
			t.Errorf("%s: exit %d, %s%s, want %q", line, code, stdout, stderr, want)
		}
	}
}

func TestCommands_VersionAndHelp(t *testing.T) {
	for line, want := range map[string]string{
		"version":        "terraform-provider-gpurent ",
		"--version":      "terraform-provider-gpurent ",
		"version --help": "Print the version",
		"--help":         "  simulator ",
		"help":           "  simulator ",
		"help login":     "\n  --client-name NAME   ",
		"help simulator": "--time-scale float",
		"simulator -h":   "(default 127.0.0.1:0)",
	} {
		stdout, stderr, code := run(strings.Fields(line)...)
		if code != 0 || !strings.Contains(stdout, want) || stderr != "" {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", line, code, stdout, stderr)
		}
	}
}
