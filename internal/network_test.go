package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/program"
)

// mayReach lists, by file, every name in the provider's code that can connect, listen, start a program or weaken TLS. A
// new name needs a review.
var mayReach = map[string][]string{
	// login opens a page in the browser.
	"internal/cli/login_browser.go": {"os/exec.Cmd.Start", "os/exec.Cmd.Wait", "os/exec.CommandContext"},
	// The CLI and the plugin communicate through a local socket.
	"internal/cli/plugin.go": {
		"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server.Serve",
		"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server.ServeOpt",
		"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server.WithManagedDebug",
	},
	// The API client.
	"internal/rental/call.go": {"net/http.NewRequestWithContext"},
	"internal/rental/client.go": {
		"net/http.Client", "net/http.Client.CloseIdleConnections", "net/http.Client.Transport",
	},
	"internal/rental/transport.go": {
		"net.Dialer", "net.Dialer.Control", "net.Dialer.DialContext", "net.Dialer.Timeout",
		"net/http.DefaultTransport", "net/http.HTTP2Config", "net/http.HTTP2Config.PingTimeout",
		"net/http.HTTP2Config.SendPingTimeout", "net/http.Transport",
		"net/http.Transport.Clone", "net/http.Transport.DialContext",
		"net/http.Transport.HTTP2", "net/http.Transport.MaxIdleConns", "net/http.Transport.MaxIdleConnsPerHost",
		"net/http.Transport.MaxResponseHeaderBytes", "net/http.Transport.Proxy", "syscall.RawConn",
	},
	// The checks of ready_when connect to the user's own instances.
	"internal/lifecycle/conditions.go": {
		"net.Dialer", "net.Dialer.DialContext", "net/http.NewRequestWithContext", "net/http.ProxyFromEnvironment",
		"net/http.Transport", "net/http.Transport.DialContext", "net/http.Transport.DisableKeepAlives",
		"net/http.Transport.Proxy", "net/http.Transport.TLSHandshakeTimeout",
	},
	// The simulator listens and does not connect. The listeners of instances are on 127.0.0.1.
	"internal/simulator/servers.go": {
		"net.ErrClosed", "net.ListenConfig", "net.ListenConfig.Listen", "net.TCPAddr", "net.TCPAddr.Port",
		"net/http.Server", "net/http.Server.Handler", "net/http.Server.ReadHeaderTimeout", "net/http.Server.Serve",
	},
	"internal/simulator/server.go": {
		"net.ListenConfig", "net.ListenConfig.Listen", "net/http.Server", "net/http.Server.BaseContext",
		"net/http.Server.Close", "net/http.Server.ConnContext", "net/http.Server.ErrorLog", "net/http.Server.Handler",
		"net/http.Server.IdleTimeout", "net/http.Server.MaxHeaderBytes", "net/http.Server.ReadHeaderTimeout",
		"net/http.Server.ReadTimeout", "net/http.Server.Serve", "net/http.Server.Shutdown",
	},
}

var (
	// reaching matches packages that can reach outside the process. The test reports their names unless they are in
	// harmless.
	reaching = regexp.MustCompile(`^(net(/.+)?|crypto/tls|os/exec|log/syslog|plugin|runtime/cgo|syscall|unsafe|` +
		`golang\.org/x/(crypto|net|sys)/.+|google\.golang\.org/grpc(/.+)?|` +
		`github\.com/hashicorp/(go-plugin|terraform-plugin-go/tfprotov6/tf6server|terraform-svchost|yamux)(/.+)?)$`)

	// harmless matches messages, addresses, constants and the handlers of a server.
	harmless = regexp.MustCompile(`^(net/(netip|url)\.\w+|` +
		`net\.(Addr|Conn|Error|Listener|OpError|SplitHostPort|JoinHostPort)|` +
		`net/http\.((Err|Method|Status)\w+|Error|(New)?CrossOriginProtection|Header|MaxBytes(Error|Reader)|NotFound|` +
		`ParseTime|Redirect|Request|Response|RoundTripper|TimeFormat|Handler|HandlerFunc|NewServeMux|` +
		`NewResponseController|ResponseController|ResponseWriter|ServeMux)|` +
		`net/http/httptrace\.(ClientTrace|GotConnInfo|WithClientTrace)|` +
		`syscall\.(SIG\w+|O_\w+|Stat_t)|crypto/tls\.(CertificateVerification|RecordHeader)Error|` +
		`golang\.org/x/crypto/ssh\.(Certificate|PublicKey|FingerprintSHA256|ParseAuthorizedKey))(\.\w+)?$`)
)

// harmlessElsewhere matches the names of package syscall that files for other platforms may use: error numbers.
var harmlessElsewhere = regexp.MustCompile(`^syscall(\.(Errno|ERROR_\w+))?$`)

// The provider's code connects through one client and cannot skip the check of a server's certificate. The type checker
// resolves names, so that import aliases and values from libraries hide nothing. The test does not cover libraries,
// which are reviewed by name: see internal/tools/program/modules.txt.
func TestNetwork_UsedInReviewedFilesOnly(t *testing.T) {
	found, seen := map[string][]string{}, map[string]bool{}
	for _, shipped := range typeCheck(t) {
		owners := fieldOwners(shipped)
		if len(shipped.OtherFiles) > 0 {
			t.Errorf("%s has files that are not Go: %v", shipped.PkgPath, shipped.OtherFiles)
		}
		for _, syntax := range shipped.Syntax {
			file := relative(t, shipped.Fset.Position(syntax.Pos()).Filename)
			seen[file] = true
			for _, imported := range imports(t, syntax) {
				if imported == "C" || imported == "unsafe" {
					t.Errorf("%s imports %s", file, imported)
				}
			}
		}
		for identifier, object := range shipped.TypesInfo.Uses {
			name := fullName(object, owners)
			if object.Pkg() == nil || !reaching.MatchString(object.Pkg().Path()) && name != "os.StartProcess" ||
				harmless.MatchString(name) {
				continue
			}
			file := relative(t, shipped.Fset.Position(identifier.Pos()).Filename)
			found[file] = append(found[file], name)
		}
	}
	for file, names := range found {
		slices.Sort(names)
		found[file] = slices.Compact(names)
	}
	if diff := cmp.Diff(mayReach, found); diff != "" {
		t.Errorf("names that reach outside the process (-reviewed +found):\n%s", diff)
	}
	if len(seen) < 100 {
		t.Fatalf("found only %d files", len(seen))
	}
	checkOtherPlatforms(t, seen)
}

// checkOtherPlatforms checks the files of shipped packages for other platforms. They are not type-checked here, and may
// import only a few packages.
func checkOtherPlatforms(t *testing.T, seen map[string]bool) {
	t.Helper()
	folders := map[string]bool{}
	for file := range seen {
		folders[path.Dir(file)] = true
	}
	for folder, sources := range sources(t) {
		for _, source := range sources {
			name := relative(t, source)
			if !folders[folder] || seen[name] {
				continue
			}
			syntax, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, imported := range imports(t, syntax) {
				if !slices.Contains([]string{"context", "errors", "fmt", "io/fs", "os", "syscall", "time"}, imported) {
					t.Errorf("%s is not type-checked on this platform and imports %s", name, imported)
				}
			}
			for _, used := range regexp.MustCompile(`\bsyscall\b(\.\w+)?|\bStartProcess\b`).FindAllString(read(t, name), -1) {
				if !harmlessElsewhere.MatchString(used) {
					t.Errorf("%s is not type-checked on this platform and has %q", name, used)
				}
			}
		}
	}
}

func imports(t *testing.T, syntax *ast.File) (found []string) {
	t.Helper()
	for _, spec := range syntax.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, name)
	}
	return found
}

// typeCheck returns this module's packages in the binary for this platform. It uses the build flags of
// TestBuiltProgram, so that both share compiled packages.
func typeCheck(t *testing.T) []*packages.Package {
	t.Helper()
	all, err := hostPackages()
	if err != nil {
		t.Fatal(err)
	}
	var ours []string
	for _, each := range all {
		if each.Module != nil && each.Module.Path == module {
			ours = append(ours, each.ImportPath)
		}
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.LoadSyntax, Dir: "..", Env: append(os.Environ(), environment(host)...),
		BuildFlags: []string{"-trimpath", "-tags=" + program.Tags},
	}, ours...)
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range loaded {
		for _, err := range each.Errors {
			t.Errorf("%s: %v", each.PkgPath, err)
		}
	}
	return loaded
}

// fieldOwners maps the fields of the structs that a package imports to "package.Type".
func fieldOwners(from *packages.Package) map[types.Object]string {
	owners := map[types.Object]string{}
	for imported := range maps.Values(from.Imports) {
		scope := imported.Types.Scope()
		for _, name := range scope.Names() {
			declared, ok := scope.Lookup(name).(*types.TypeName)
			if !ok {
				continue
			}
			structure, ok := declared.Type().Underlying().(*types.Struct)
			if !ok {
				continue
			}
			for field := range structure.Fields() {
				owners[field] = imported.PkgPath + "." + name
			}
		}
	}
	return owners
}

// fullName returns "package.Name", or "package.Type.Name" for methods and fields.
func fullName(object types.Object, owners map[types.Object]string) string {
	if object.Pkg() == nil {
		return object.Name()
	}
	if function, ok := object.(*types.Func); ok {
		return strings.NewReplacer("(", "", ")", "", "*", "").Replace(function.FullName())
	}
	if owner, ok := owners[object]; ok {
		return owner + "." + object.Name()
	}
	return object.Pkg().Path() + "." + object.Name()
}

// relative returns the path of a file below the module's folder, with slashes.
func relative(t *testing.T, file string) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	if file, err = filepath.Abs(file); err != nil {
		t.Fatal(err)
	}
	name, err := filepath.Rel(root, file)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(name)
}
