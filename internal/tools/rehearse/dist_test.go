package main

import (
	"archive/zip"
	"bytes"
	"debug/buildinfo"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	testVersion  = "1.2.3"
	sumsName     = program + "_" + testVersion + "_SHA256SUMS"
	linuxArchive = program + "_" + testVersion + "_linux_amd64.zip"
	linuxProgram = program + "_v" + testVersion
)

var manifestText = []byte(`{"version": 1, "metadata": {"protocol_versions": ["6.0"]}}`)

func TestAReleaseAsRegistriesWantIt(t *testing.T) {
	found, err := look(good(t), manifestText, signed)
	if err != nil {
		t.Fatal(err)
	}
	if found.version != testVersion || !slices.Equal(found.platforms, wanted) {
		t.Errorf("version %s for %v, want %s for %v", found.version, found.platforms, testVersion, wanted)
	}
}

func TestAReleaseThatRegistriesWouldNotTake(t *testing.T) {
	for name, test := range map[string]struct {
		breakIt   func(*testing.T, fstest.MapFS)
		complaint string
	}{
		"no list": {func(_ *testing.T, dist fstest.MapFS) { delete(dist, sumsName) }, "0 lists"},
		"a list that is none": {func(_ *testing.T, dist fstest.MapFS) {
			dist[sumsName] = &fstest.MapFile{Data: []byte("abc *file\n")}
		}, "is no checksum"},
		"a missing archive":        {func(_ *testing.T, dist fstest.MapFS) { delete(dist, linuxArchive) }, "linux_amd64.zip"},
		"a changed archive":        {func(_ *testing.T, dist fstest.MapFS) { dist[linuxArchive].Data = pack(t, linuxProgram, 0o755, "x") }, "another checksum"},
		"an unlisted archive":      {func(_ *testing.T, dist fstest.MapFS) { dist["stray.zip"] = &fstest.MapFile{} }, "stray.zip is in no list"},
		"a missing platform":       {func(t *testing.T, dist fstest.MapFS) { delete(dist, linuxArchive); enlist(t, dist) }, "none for linux_amd64"},
		"nothing of what is in it": {func(t *testing.T, dist fstest.MapFS) { delete(dist, linuxArchive+".spdx.json"); enlist(t, dist) }, "no list of what is in it"},
		"no manifest": {func(_ *testing.T, dist fstest.MapFS) {
			lines := strings.SplitAfter(string(dist[sumsName].Data), "\n")
			dist[sumsName].Data = []byte(strings.Join(slices.DeleteFunc(lines, func(line string) bool { return strings.Contains(line, "manifest") }), ""))
		}, "_manifest.json is not listed"},
		"armour":            {func(_ *testing.T, dist fstest.MapFS) { dist[sumsName+".sig"].Data = []byte("-----BEGIN PGP") }, "no binary signature"},
		"no signature":      {func(_ *testing.T, dist fstest.MapFS) { delete(dist, sumsName+".sig") }, ".sig"},
		"no bundle":         {func(_ *testing.T, dist fstest.MapFS) { delete(dist, sumsName+".sigstore.json") }, ".sigstore.json"},
		"not the program":   {repacked(pack, "README.md", 0o755, platformBuild("linux", "amd64")), "README.md"},
		"another version":   {repacked(pack, program+"_v9.9.9", 0o755, platformBuild("linux", "amd64")), "v9.9.9"},
		"not runnable":      {repacked(pack, linuxProgram, 0o644, platformBuild("linux", "amd64")), "-rw-r--r--"},
		"another system":    {repacked(pack, linuxProgram, 0o755, platformBuild("darwin", "amd64")), `GOOS="darwin", want "linux"`},
		"another processor": {repacked(pack, linuxProgram, 0o755, platformBuild("linux", "arm64")), `GOARCH="arm64"`},
		"other tags": {
			repacked(pack, linuxProgram, 0o755, strings.Replace(platformBuild("linux", "amd64"), "grpcnotrace", "bench", 1)), `-tags="bench", want "grpcnotrace"`,
		},
		"paths in it": {
			repacked(pack, linuxProgram, 0o755, strings.Replace(platformBuild("linux", "amd64"), "-trimpath=true", "", 1)), `-trimpath=""`,
		},
		"no commit": {
			repacked(pack, linuxProgram, 0o755, strings.Replace(platformBuild("linux", "amd64"), "vcs.revision=abc", "", 1)), "of which commit",
		},
		"more than the program": {repacked(packTwo, linuxProgram, 0o755, platformBuild("linux", "amd64")), "2 files"},
	} {
		t.Run(name, func(t *testing.T) {
			dist := good(t)
			test.breakIt(t, dist)
			if _, err := look(dist, manifestText, signed); err == nil || !strings.Contains(err.Error(), test.complaint) {
				t.Errorf("error %v, want one with %q", err, test.complaint)
			}
		})
	}
}

func TestAManifestOfAnotherProtocol(t *testing.T) {
	dist := good(t)
	old := []byte(`{"version": 1, "metadata": {"protocol_versions": ["5.0"]}}`)
	dist[sumsName].Data = bytes.ReplaceAll(dist[sumsName].Data, []byte(digest(manifestText)), []byte(digest(old)))
	if _, err := look(dist, old, signed); err == nil || !strings.Contains(err.Error(), "protocol 6.0") {
		t.Errorf("error %v, want one about the protocol", err)
	}
}

func TestARehearsalNeedsNoSignatures(t *testing.T) {
	dist := good(t)
	maps.DeleteFunc(dist, func(name string, _ *fstest.MapFile) bool { return strings.Contains(name, "SUMS.") })
	if _, err := look(dist, manifestText, unsigned); err != nil {
		t.Error(err)
	}
}

// The stand-in above reads what the test wrote: this one reads a real program.
func TestHowARealProgramWasBuilt(t *testing.T) {
	file, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	err = inspection{read: buildinfo.Read}.checkProgram(binary, runtime.GOOS, runtime.GOARCH)
	if err == nil || strings.Contains(err.Error(), "GOOS") || !strings.Contains(err.Error(), `-tags="", want "grpcnotrace"`) {
		t.Errorf("error %v, want one about the tags, and none about the platform", err)
	}
}

// look inspects a folder in which programs are texts that say how they were built.
func look(dist fs.FS, manifest []byte, how signatures) (release, error) {
	read := func(binary io.ReaderAt) (*buildinfo.BuildInfo, error) {
		text, err := io.ReadAll(io.NewSectionReader(binary, 0, 1<<20))
		info := &debug.BuildInfo{}
		for _, setting := range strings.Fields(string(text)) {
			key, value, _ := strings.Cut(setting, "=")
			info.Settings = append(info.Settings, debug.BuildSetting{Key: key, Value: value})
		}
		return info, err
	}
	return inspection{dist: dist, manifest: manifest, how: how, read: read}.inspect()
}

// good is a release with nothing wrong in it.
func good(t *testing.T) fstest.MapFS {
	t.Helper()
	dist := fstest.MapFS{
		sumsName + ".sig":           {Data: []byte{0x89, 0x02}},
		sumsName + ".sigstore.json": {Data: []byte("{}")},
	}
	for _, platform := range wanted {
		system, processor, _ := strings.Cut(platform, "_")
		name := linuxProgram
		if system == "windows" {
			name += ".exe"
		}
		archive := program + "_" + testVersion + "_" + platform + ".zip"
		dist[archive+".spdx.json"] = &fstest.MapFile{Data: []byte("{}")}
		dist[archive] = &fstest.MapFile{Data: pack(t, name, 0o755, platformBuild(system, processor))}
	}
	enlist(t, dist)
	return dist
}

// enlist lists the checksums of a folder.
func enlist(t *testing.T, dist fstest.MapFS) {
	t.Helper()
	lines := fmt.Sprintf("%s  %s\n", digest(manifestText), manifestName(testVersion))
	for _, name := range slices.Sorted(maps.Keys(dist)) {
		if !strings.Contains(name, "SHA256SUMS") {
			lines += fmt.Sprintf("%s  %s\n", digest(dist[name].Data), name)
		}
	}
	dist[sumsName] = &fstest.MapFile{Data: []byte(lines)}
}

// repacked puts other things into the archive for Linux, and lists it anew.
func repacked(how func(*testing.T, string, fs.FileMode, string) []byte, name string, mode fs.FileMode, text string) func(*testing.T, fstest.MapFS) {
	return func(t *testing.T, dist fstest.MapFS) {
		dist[linuxArchive] = &fstest.MapFile{Data: how(t, name, mode, text)}
		enlist(t, dist)
	}
}

func platformBuild(system, processor string) string {
	return "GOOS=" + system + " GOARCH=" + processor + " CGO_ENABLED=0 -tags=grpcnotrace -trimpath=true vcs.revision=abc"
}

func pack(t *testing.T, name string, mode fs.FileMode, text string) []byte {
	return packAll(t, mode, text, name)
}

func packTwo(t *testing.T, name string, mode fs.FileMode, text string) []byte {
	return packAll(t, mode, text, name, "LICENSE")
}

func packAll(t *testing.T, mode fs.FileMode, text string, names ...string) []byte {
	t.Helper()
	var archive bytes.Buffer
	writer := zip.NewWriter(&archive)
	for _, name := range names {
		header := &zip.FileHeader{Name: name}
		header.SetMode(mode)
		file, err := writer.CreateHeader(header)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(file, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}
