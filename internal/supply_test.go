package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// list asks go list about everything in the binary for a system.
func list(t *testing.T, system, format string) []string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", format, "..")
	command.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=1")
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(out))
	slices.Sort(lines)
	return slices.Compact(lines)
}

// What is in the binary has been looked at by a person, and stands in SECURITY.md with what it is for.
func TestBinaryHoldsTheReviewedModulesOnly(t *testing.T) {
	page := read(t, "SECURITY.md")
	var reviewed []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+\\.[a-z]+/[^`]+)` \\| .+ \\|$").FindAllStringSubmatch(page, -1) {
		reviewed = append(reviewed, row[1])
	}
	slices.Sort(reviewed)
	var held []string
	for _, system := range []string{"linux", "windows", "darwin"} {
		held = append(held, list(t, system, `{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}`)...)
	}
	slices.Sort(held)
	if diff := cmp.Diff(reviewed, slices.Compact(held)); diff != "" {
		t.Errorf("the modules in SECURITY.md and in the binary (-reviewed +held):\n%s", diff)
	}
}

// No C code is in the binary, and no module stands in for another.
func TestModulesAreWhatTheyAreCalled(t *testing.T) {
	if with := list(t, "linux", `{{if not .Standard}}{{if or .CgoFiles .SysoFiles .CFiles}}{{.ImportPath}}{{end}}{{end}}`); len(with) > 0 {
		t.Errorf("with C or ready-made object files: %v", with)
	}
	for _, file := range []string{"../go.mod", "tools/lint/go.mod", "tools/docs/go.mod"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := regexp.MustCompile(`(?m)^\s*(replace|exclude|toolchain)\b.*`).Find(content); found != nil {
			t.Errorf("%s: %s", file, found)
		}
		if _, err := os.Stat(strings.TrimSuffix(file, "mod") + "sum"); err != nil {
			t.Error(err)
		}
	}
}

// mayTalk is who in the binary may reach the network, start a program, or do what gets around a safeguard; a file, and what it may use.
var mayTalk = map[string][]string{
	"internal/rental/layer_retry.go": {"http.Client"},
	"internal/rental/transport.go":   {"http.Transport", "http.DefaultTransport", "net.Dialer"},
	"internal/cli/login_browser.go":  {"exec.CommandContext"},
	"internal/simulator/server.go":   {"net.ListenConfig", "http.Server"},
}

// The provider talks to the service, through one client, and to nobody else: there is no telemetry.
func TestOnlyTheClientTalks(t *testing.T) {
	talks := regexp.MustCompile(`^(http\.(Client|Transport|Default.*|Get|Head|Post|PostForm|NewRequest.*|Server|ListenAndServe.*|Serve.*TLS)|net\.(Dial.*|Listen(Config|IP|Multicast.*|Packet|TCP|UDP|Unix.*)?|Lookup.*|Resolver)|tls\.Dial.*|exec\.(Command.*|Cmd)|os\.StartProcess|syscall\..*[eE]xec|unsafe\..*|plugin\.Open|smtp\..*)$`)
	shipped := list(t, "linux", `{{with .Module}}{{if .Main}}{{$.ImportPath}}{{end}}{{end}}`)
	files := 0
	for folder, sources := range sources(t) {
		if !slices.Contains(shipped, path.Join(module, folder)) {
			continue
		}
		for _, file := range sources {
			files++
			name, err := filepath.Rel("..", file)
			if err != nil {
				t.Fatal(err)
			}
			for _, used := range uses(t, file) {
				if used == "InsecureSkipVerify" || talks.MatchString(used) && !slices.Contains(mayTalk[filepath.ToSlash(name)], used) {
					t.Errorf("%s uses %s", name, used)
				}
			}
		}
	}
	if files < 100 {
		t.Fatalf("only %d files were found: this test looks in the wrong place", files)
	}
}

// uses are the names of packages' things that a file uses, and of the fields it sets.
func uses(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(parsed, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.SelectorExpr:
			found = append(found, node.Sel.Name)
			if of, ok := node.X.(*ast.Ident); ok {
				found = append(found, of.Name+"."+node.Sel.Name)
			}
		case *ast.KeyValueExpr:
			if key, ok := node.Key.(*ast.Ident); ok {
				found = append(found, key.Name)
			}
		}
		return true
	})
	return found
}
