package program

import (
	"runtime/debug"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	commit = "0123456789abcdef"
	sum    = "h1:sum="
)

var rules = Rules{
	Reviewed: []string{"example.org/a"},
	Versions: map[string]string{"example.org/a": "v1.2.3", "example.org/b": "v1.0.0"},
	Sums:     map[string]string{"example.org/a v1.2.3": sum, "example.org/b v1.0.0": sum},
	Commit:   commit,
}

// good returns the record of a valid program.
func good() *debug.BuildInfo {
	info := &debug.BuildInfo{Path: Module, Main: debug.Module{Path: Module}}
	for _, setting := range []string{
		"-buildmode=exe", "-compiler=gc", "-tags=grpcnotrace", "-trimpath=true", "CGO_ENABLED=0", "GOARCH=arm",
		"GOOS=linux", "GOARM=6,softfloat", "vcs.revision=" + commit, "vcs.modified=false",
	} {
		key, value, _ := strings.Cut(setting, "=")
		info.Settings = append(info.Settings, debug.BuildSetting{Key: key, Value: value})
	}
	info.Deps = []*debug.Module{{Path: "example.org/a", Version: "v1.2.3", Sum: sum}}
	return info
}

func TestCheckInfo_Good(t *testing.T) {
	if err := rules.CheckInfo(good(), "linux_arm"); err != nil {
		t.Error(err)
	}
}

func TestCheckInfo_Refuses(t *testing.T) {
	set := func(key, value string) func(*debug.BuildInfo) {
		return func(info *debug.BuildInfo) {
			for n := range info.Settings {
				if info.Settings[n].Key == key {
					info.Settings[n].Value = value
				}
			}
		}
	}
	for name, test := range map[string]struct {
		change func(*debug.BuildInfo)
		want   string
	}{
		"another system":    {set("GOOS", "darwin"), `GOOS="darwin", want "linux"`},
		"another processor": {set("GOARCH", "arm64"), `GOARCH="arm64", want "arm"`},
		"a newer ARM":       {set("GOARM", "7"), `GOARM="7", want "6"`},
		"cgo":               {set("CGO_ENABLED", "1"), `CGO_ENABLED="1"`},
		"other tags":        {set("-tags", "bench"), `-tags="bench", want "grpcnotrace"`},
		"paths":             {set("-trimpath", ""), `-trimpath=""`},
		"another commit":    {set("vcs.revision", "abc"), `vcs.revision="abc"`},
		"no commit":         {set("vcs.revision", ""), `vcs.revision=""`},
		"changes":           {set("vcs.modified", "true"), `vcs.modified="true"`},
		"another program":   {func(info *debug.BuildInfo) { info.Path = "example.org/x" }, "program example.org/x"},
		"another module":    {func(info *debug.BuildInfo) { info.Main.Path = "example.org/x" }, "module example.org/x"},
		"no modules":        {func(info *debug.BuildInfo) { info.Deps = nil }, "lists no modules"},
		"an unknown module": {func(info *debug.BuildInfo) { info.Deps[0].Path = "example.org/b" }, "b is not listed"},
		"another version":   {func(info *debug.BuildInfo) { info.Deps[0].Version = "v1.2.4" }, `"v1.2.3"`},
		"another checksum":  {func(info *debug.BuildInfo) { info.Deps[0].Sum = "h1:x=" }, `checksum "h1:x="`},
		"no checksum":       {func(info *debug.BuildInfo) { info.Deps[0].Sum = "" }, `checksum ""`},
		"a replacement": {
			func(info *debug.BuildInfo) { info.Deps[0].Replace = &debug.Module{Path: "./stub"} }, "replaced by ./stub",
		},
	} {
		t.Run(name, func(t *testing.T) {
			info := good()
			test.change(info)
			err := rules.CheckInfo(info, "linux_arm")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestCheckFunctions(t *testing.T) {
	const ours = "\x00" + Module + "/internal/rental.New\x00"
	for table, want := range map[string]string{
		ours: "",
		ours + "testing.init\x00testing.init.0\x00net/http.Get\x00": "",
		"no table": "was not found",
		ours + "testing.init\x00testing.(*T).Run\x00":               "function testing.(*T).Run",
		ours + "pgregory.net/rapid.Check\x00":                       "functions of pgregory.net/rapid",
		ours + "github.com/hashicorp/hcl/v2/hclparse.NewParser\x00": "functions of github.com/hashicorp/hcl/v2",
		ours + Module + "/internal/acctest.Run\x00":                 "internal/acctest",
	} {
		err := CheckFunctions([]byte(table))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", table, err, want)
		}
	}
}

func TestReadRules(t *testing.T) {
	files := func() fstest.MapFS {
		return fstest.MapFS{
			reviewedFile: {Data: []byte("# Modules\nexample.org/a  tests\n")},
			"go.mod":     {Data: []byte("module x\n\ngo 1.26.0\n\nrequire example.org/a v1.2.3 // indirect\n")},
			"go.sum":     {Data: []byte("example.org/a v1.2.3 h1:a=\nexample.org/a v1.2.3/go.mod h1:b=\n")},
		}
	}
	found, err := ReadRules(files())
	if err != nil || found.Versions["example.org/a"] != "v1.2.3" || found.Sums["example.org/a v1.2.3"] != "h1:a=" ||
		len(found.Reviewed) != 1 || found.Reviewed[0] != "example.org/a" {
		t.Errorf("%+v, %v", found, err)
	}
	for name := range files() {
		broken := files()
		broken[name] = &fstest.MapFile{Data: []byte("# x\n")}
		if _, err := ReadRules(broken); err == nil {
			t.Errorf("no error without modules in %s", name)
		}
		delete(broken, name)
		if _, err := ReadRules(broken); err == nil {
			t.Errorf("no error without %s", name)
		}
	}
}
