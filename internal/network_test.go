package internal_test

import (
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/program"
)

// mayReach lists everything in the provider's own code that can connect, listen, start a
// program or weaken TLS, by file. A new name here needs a review.
var mayReach = map[string][]string{
	// login opens a page in the browser.
	"internal/cli/login_browser.go": {"os/exec.Cmd.Start", "os/exec.Cmd.Wait", "os/exec.CommandContext"},
	// The CLI talks to the plugin through a local socket.
	"internal/cli/plugin.go": {
		"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server.Serve",
		"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server.ServeOpt",
		"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server.WithManagedDebug",
	},
	// The client of the service.
	"internal/rental/layer_retry.go": {
		"github.com/hashicorp/go-retryablehttp.Client", "github.com/hashicorp/go-retryablehttp.Client.Backoff",
		"github.com/hashicorp/go-retryablehttp.Client.CheckRetry", "github.com/hashicorp/go-retryablehttp.Client.Do",
		"github.com/hashicorp/go-retryablehttp.Client.ErrorHandler",
		"github.com/hashicorp/go-retryablehttp.Client.HTTPClient",
		"github.com/hashicorp/go-retryablehttp.Client.RequestLogHook",
		"github.com/hashicorp/go-retryablehttp.Client.RetryMax", "github.com/hashicorp/go-retryablehttp.FromRequest",
		"github.com/hashicorp/go-retryablehttp.Logger",
		"github.com/hashicorp/go-retryablehttp.PassthroughErrorHandler",
		"net/http.Client", "net/http.Client.CheckRedirect", "net/http.Client.Transport",
	},
	"internal/rental/transport.go": {
		"crypto/tls.Config", "crypto/tls.Config.MinVersion", "crypto/tls.VersionTLS12",
		"net.Dialer", "net.Dialer.Control", "net.Dialer.DialContext", "net.Dialer.Timeout",
		"net/http.DefaultTransport", "net/http.HTTP2Config", "net/http.HTTP2Config.PingTimeout",
		"net/http.HTTP2Config.SendPingTimeout", "net/http.ProxyFromEnvironment", "net/http.Transport",
		"net/http.Transport.Clone", "net/http.Transport.DialContext", "net/http.Transport.ForceAttemptHTTP2",
		"net/http.Transport.HTTP2", "net/http.Transport.MaxIdleConns", "net/http.Transport.MaxIdleConnsPerHost",
		"net/http.Transport.MaxResponseHeaderBytes", "net/http.Transport.Proxy",
		"net/http.Transport.TLSClientConfig", "syscall.RawConn",
	},
	// The simulator serves, and connects to nothing.
	"internal/simulator/server.go": {
		"net.ListenConfig", "net.ListenConfig.Listen", "net/http.Server", "net/http.Server.BaseContext",
		"net/http.Server.Close", "net/http.Server.ConnContext", "net/http.Server.ErrorLog", "net/http.Server.Handler",
		"net/http.Server.IdleTimeout", "net/http.Server.MaxHeaderBytes", "net/http.Server.ReadHeaderTimeout",
		"net/http.Server.ReadTimeout", "net/http.Server.Serve", "net/http.Server.Shutdown",
	},
}

var (
	// reaching are packages with which code can leave the process. A name from them is
	// reported unless it is in harmless.
	reaching = regexp.MustCompile(`^(net(/.+)?|crypto/tls|os/exec|log/syslog|plugin|runtime/cgo|syscall|unsafe|` +
		`golang\.org/x/(crypto|net|sys)/.+|google\.golang\.org/grpc(/.+)?|github\.com/hashicorp/(go-cleanhttp|` +
		`go-plugin|go-retryablehttp|terraform-plugin-go/tfprotov6/tf6server|terraform-svchost|yamux)(/.+)?)$`)

	// harmless are messages, addresses and constants, and the handlers of a server.
	harmless = regexp.MustCompile(`^(net/(netip|url)\.\w+|` +
		`net\.(Addr|Conn|Error|Listener|OpError|SplitHostPort|JoinHostPort)|` +
		`net/http\.((Err|Method|SameSite|Status)\w+|Error|Cookie|SetCookie|Header|MaxBytes(Error|Reader)|NotFound|` +
		`ParseTime|Redirect|Request|Response|RoundTripper|TimeFormat|Handler|HandlerFunc|FileServerFS|NewServeMux|` +
		`NewResponseController|ResponseController|ResponseWriter|ServeMux|StripPrefix)|` +
		`net/http/httptrace\.(ClientTrace|GotConnInfo|WithClientTrace)|` +
		`syscall\.SIG\w+|crypto/tls\.CertificateVerificationError|` +
		`golang\.org/x/crypto/ssh\.(Certificate|PublicKey|FingerprintSHA256|ParseAuthorizedKey))(\.\w+)?$`)
)

// The provider's own code connects through one client, and cannot skip the check of a
// server's certificate. Names are resolved by the type checker: an import alias or a
// value that a library returns hides nothing. Libraries are not covered: they are
// reviewed by name in SECURITY.md.
func TestNetwork_UsedInReviewedFilesOnly(t *testing.T) {
	found, files := map[string][]string{}, map[string]bool{}
	for _, system := range []string{"linux", "windows"} {
		for _, shipped := range typeCheck(t, system) {
			owners := fieldOwners(shipped)
			if len(shipped.OtherFiles) > 0 {
				t.Errorf("%s has files that are not Go: %v", shipped.PkgPath, shipped.OtherFiles)
			}
			for _, syntax := range shipped.Syntax {
				for _, spec := range syntax.Imports {
					if name := strings.Trim(spec.Path.Value, `"`); name == "C" || name == "unsafe" {
						t.Errorf("%s imports %s", shipped.Fset.Position(spec.Pos()), name)
					}
				}
				files[relative(t, shipped.Fset.Position(syntax.Pos()).Filename)] = true
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
	}
	for file, names := range found {
		slices.Sort(names)
		found[file] = slices.Compact(names)
	}
	if diff := cmp.Diff(mayReach, found); diff != "" {
		t.Errorf("what can leave the process (-reviewed +found):\n%s", diff)
	}
	checkAllFilesSeen(t, files)
}

// checkAllFilesSeen fails for a file of a shipped package that no type check has read,
// such as one for another platform.
func checkAllFilesSeen(t *testing.T, seen map[string]bool) {
	t.Helper()
	folders := map[string]bool{}
	for file := range seen {
		folders[filepath.ToSlash(filepath.Dir(file))] = true
	}
	for folder, sources := range sources(t) {
		for _, source := range sources {
			name := relative(t, source)
			if folders[folder] && !seen[name] && !strings.HasPrefix(read(t, name), "//go:build bench\n") {
				t.Errorf("%s was not type-checked", name)
			}
		}
	}
	if len(seen) < 100 {
		t.Fatalf("only %d files were found", len(seen))
	}
}

// typeCheck returns the provider's own packages that are in the binary for a system.
func typeCheck(t *testing.T, system string) []*packages.Package {
	t.Helper()
	loaded, err := packages.Load(&packages.Config{
		Mode:       packages.LoadAllSyntax | packages.NeedModule,
		Dir:        "..",
		Env:        append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0"),
		BuildFlags: []string{"-tags=" + program.Tags},
	}, ".")
	if err != nil {
		t.Fatal(err)
	}
	var ours []*packages.Package
	packages.Visit(loaded, nil, func(each *packages.Package) {
		for _, err := range each.Errors {
			t.Errorf("%s: %v", each.PkgPath, err)
		}
		if each.Module != nil && each.Module.Main {
			ours = append(ours, each)
		}
	})
	return ours
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

// fullName is "package.Name", or "package.Type.Name" for methods and fields.
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

// relative is a file's path from the module's folder, with slashes.
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
