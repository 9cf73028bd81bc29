package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/program"
)

const (
	testVersion  = "1.2.3"
	sumsName     = binary + "_" + testVersion + "_SHA256SUMS"
	linuxArchive = binary + "_" + testVersion + "_linux_amd64.zip"
	linuxProgram = binary + "_v" + testVersion
)

var manifestText = []byte(`{"version": 1, "metadata": {"protocol_versions": ["6.0"]}}`)

// testKey signs the release. strangersKey is another key.
var testKey, strangersKey = newKey(packet.PubKeyAlgoRSA), newKey(packet.PubKeyAlgoRSA)

func newKey(algorithm packet.PublicKeyAlgorithm) *openpgp.Entity {
	key, err := openpgp.NewEntity("Test", "", "", &packet.Config{Algorithm: algorithm, RSABits: 2048})
	if err != nil {
		panic(err)
	}
	return key
}

func TestInspect_Good(t *testing.T) {
	dist := good(t)
	// GoReleaser has other files there.
	dist[binary+"_linux_amd64_v1/"+linuxProgram] = &fstest.MapFile{}
	dist["artifacts.json"] = &fstest.MapFile{}
	found, err := inspect(dist, manifestText)
	if err != nil {
		t.Fatal(err)
	}
	if found.version != testVersion || !slices.Equal(found.platforms, program.Platforms) {
		t.Errorf("version %s for %v, want %s for %v", found.version, found.platforms, testVersion, program.Platforms)
	}
}

func TestInspect_Refuses(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*testing.T, fstest.MapFS)
		want   string
	}{
		"no list": {func(_ *testing.T, dist fstest.MapFS) { delete(dist, sumsName) }, "0 lists"},
		"an invalid list": {func(_ *testing.T, dist fstest.MapFS) {
			dist[sumsName] = &fstest.MapFile{Data: []byte("abc *file\n")}
		}, "is not a checksum"},
		"a missing archive": {func(_ *testing.T, dist fstest.MapFS) { delete(dist, linuxArchive) }, "linux_amd64.zip"},
		"a changed archive": {func(_ *testing.T, dist fstest.MapFS) {
			dist[linuxArchive].Data = pack(t, linuxProgram, 0o755, "x")
		}, "does not have the listed checksum"},
		"an unlisted archive": {func(_ *testing.T, dist fstest.MapFS) {
			dist[binary+"_stray.zip"] = &fstest.MapFile{}
		}, "stray.zip is not in the list"},
		"a missing platform": {func(t *testing.T, dist fstest.MapFS) {
			delete(dist, linuxArchive)
			enlist(t, dist)
		}, "no archive for linux_amd64"},
		"no SPDX file": {func(t *testing.T, dist fstest.MapFS) {
			delete(dist, linuxArchive+".spdx.json")
			enlist(t, dist)
		}, "has no SPDX file"},
		"no manifest": {func(_ *testing.T, dist fstest.MapFS) {
			lines := strings.SplitAfter(string(dist[sumsName].Data), "\n")
			isManifest := func(line string) bool { return strings.Contains(line, "manifest") }
			dist[sumsName].Data = []byte(strings.Join(slices.DeleteFunc(lines, isManifest), ""))
		}, "_manifest.json is not listed"},
		"no signature": {func(_ *testing.T, dist fstest.MapFS) { delete(dist, sumsName+".sig") }, ".sig"},
		"an empty signature": {func(_ *testing.T, dist fstest.MapFS) {
			dist[sumsName+".sig"].Data = nil
		}, "SHA256SUMS.sig: "},
		"another key": {func(t *testing.T, dist fstest.MapFS) { sign(t, dist, strangersKey) }, "unknown entity"},
		"a signature of another list": {func(_ *testing.T, dist fstest.MapFS) {
			dist[sumsName].Data = append(dist[sumsName].Data, dist[sumsName].Data...)
		}, "SHA256SUMS.sig: "},
		"an armored signature": {func(t *testing.T, dist fstest.MapFS) {
			var text bytes.Buffer
			if err := openpgp.ArmoredDetachSign(&text, testKey, bytes.NewReader(dist[sumsName].Data), nil); err != nil {
				t.Fatal(err)
			}
			dist[sumsName+".sig"].Data = text.Bytes()
		}, "SHA256SUMS.sig: "},
		"not the program": {repacked(pack, "README.md", 0o755, "linux_amd64"), "README.md"},
		"another version": {repacked(pack, binary+"_v9.9.9", 0o755, "linux_amd64"), "v9.9.9"},
		"not executable":  {repacked(pack, linuxProgram, 0o644, "linux_amd64"), "-rw-r--r--"},
		// The other checks of a program are tested in package program.
		"another platform":      {repacked(pack, linuxProgram, 0o755, "darwin_amd64"), `built for darwin_amd64`},
		"more than the program": {repacked(packTwo, linuxProgram, 0o755, "linux_amd64"), "2 files"},
	} {
		t.Run(name, func(t *testing.T) {
			dist := good(t)
			test.change(t, dist)
			if _, err := inspect(dist, manifestText); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestInspect_ManifestOfAnotherProtocol(t *testing.T) {
	dist := good(t)
	old := []byte(`{"version": 1, "metadata": {"protocol_versions": ["5.0"]}}`)
	dist[manifestName(testVersion)].Data = old
	enlist(t, dist)
	if _, err := inspect(dist, old); err == nil || !strings.Contains(err.Error(), "protocol 6.0") {
		t.Errorf("error %v, want one about the protocol", err)
	}
}

func TestInspect_BeforeSigning(t *testing.T) {
	dist := good(t)
	delete(dist, sumsName+".sig")
	if _, err := (inspection{dist: dist, manifest: manifestText, check: isFor, sboms: true}).inspect(); err != nil {
		t.Error(err)
	}
}

func inspect(dist fs.FS, manifest []byte) (release, error) {
	return inspection{dist: dist, manifest: manifest, check: isFor, sboms: true, key: testKey}.inspect()
}

// isFor accepts a program that consists of the name of the platform.
func isFor(content []byte, platform string) error {
	if string(content) != platform {
		return fmt.Errorf("built for %s", content)
	}
	return nil
}

// good returns a valid release.
func good(t *testing.T) fstest.MapFS {
	t.Helper()
	dist := fstest.MapFS{manifestName(testVersion): {Data: manifestText}}
	for _, platform := range program.Platforms {
		name := linuxProgram
		if strings.HasPrefix(platform, "windows_") {
			name += ".exe"
		}
		archive := binary + "_" + testVersion + "_" + platform + ".zip"
		dist[archive+".spdx.json"] = &fstest.MapFile{Data: []byte("{}")}
		dist[archive] = &fstest.MapFile{Data: pack(t, name, 0o755, platform)}
	}
	enlist(t, dist)
	return dist
}

// enlist writes the list of checksums of a folder and signs it.
func enlist(t *testing.T, dist fstest.MapFS) {
	t.Helper()
	var lines string
	for _, name := range slices.Sorted(maps.Keys(dist)) {
		if !strings.Contains(name, "SHA256SUMS") {
			lines += fmt.Sprintf("%s  %s\n", digest(dist[name].Data), name)
		}
	}
	dist[sumsName] = &fstest.MapFile{Data: []byte(lines)}
	sign(t, dist, testKey)
}

func sign(t *testing.T, dist fstest.MapFS, key *openpgp.Entity) {
	t.Helper()
	var signature bytes.Buffer
	if err := openpgp.DetachSign(&signature, key, bytes.NewReader(dist[sumsName].Data), nil); err != nil {
		t.Fatal(err)
	}
	dist[sumsName+".sig"] = &fstest.MapFile{Data: signature.Bytes()}
}

// repacked returns a function that replaces the content of the archive for Linux, and lists and signs it.
func repacked(
	how func(*testing.T, string, fs.FileMode, string) []byte, name string, mode fs.FileMode, text string,
) func(*testing.T, fstest.MapFS) {
	return func(t *testing.T, dist fstest.MapFS) {
		dist[linuxArchive] = &fstest.MapFile{Data: how(t, name, mode, text)}
		enlist(t, dist)
	}
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
