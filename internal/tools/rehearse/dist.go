package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
)

const (
	program = "terraform-provider-gpurent"
	// protocol is the version of the plugin protocol that the provider speaks.
	protocol = "6.0"
	// runnable is the mode of a program: a CLI starts it as it was packed.
	runnable fs.FileMode = 0o755
)

// signatures says whether a release is signed: a rehearsal is not.
type signatures bool

const (
	signed   signatures = true
	unsigned signatures = false
)

// wanted are the platforms without which a release is incomplete: those that the
// registries ask every provider for.
var wanted = []string{"darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm", "linux_arm64", "windows_amd64"}

// built is what must stand in every program, as "go version -m" shows it.
var built = map[string]string{"-trimpath": "true", "-tags": "grpcnotrace", "CGO_ENABLED": "0"}

// release is what was found.
type release struct {
	version   string
	platforms []string
}

// list is a file of checksums.
type list struct {
	name, text string
	sums       map[string]string // by file name, in hexadecimal
}

// checksums reads the one list of checksums in a folder.
func checksums(dist fs.FS) (list, error) {
	names, err := fs.Glob(dist, "*_SHA256SUMS")
	if err != nil {
		return list{}, err
	}
	if len(names) != 1 {
		return list{}, fmt.Errorf("%d lists of checksums", len(names))
	}
	text, err := fs.ReadFile(dist, names[0])
	if err != nil {
		return list{}, err
	}
	found := list{name: names[0], text: string(text), sums: map[string]string{}}
	line := regexp.MustCompile(`^([0-9a-f]{64})  (\S+)\n$`)
	for each := range strings.Lines(found.text) {
		parts := line.FindStringSubmatch(each)
		if parts == nil {
			return list{}, fmt.Errorf("%s: %q is no checksum", found.name, each)
		}
		found.sums[parts[2]] = parts[1]
	}
	return found, nil
}

// inspection is what a release is looked at with.
type inspection struct {
	dist     fs.FS
	manifest []byte // the registries' manifest, as it is in the source
	how      signatures
	// read tells how a program was built.
	read func(io.ReaderAt) (*buildinfo.BuildInfo, error)
}

// inspect holds a folder against what the registries of Terraform and OpenTofu
// take, and tells all that is wrong with it.
func (i inspection) inspect() (release, error) {
	dist := i.dist
	sums, err := checksums(dist)
	if err != nil {
		return release{}, err
	}
	version := strings.TrimSuffix(strings.TrimPrefix(sums.name, program+"_"), "_SHA256SUMS")
	found := release{version: version}
	archives, err := fs.Glob(dist, "*.zip")
	if err != nil {
		return release{}, err
	}
	problems := []error{checkManifest(sums, version, i.manifest), checkSignatures(dist, sums.name, i.how)}
	for _, name := range archives {
		if _, listed := sums.sums[name]; !listed {
			problems = append(problems, fmt.Errorf("%s is in no list of checksums", name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sums.sums)) {
		if name == manifestName(version) {
			continue // GoReleaser takes it from the source when it publishes
		}
		content, err := fs.ReadFile(dist, name)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if digest(content) != sums.sums[name] {
			problems = append(problems, fmt.Errorf("%s has another checksum than listed", name))
		}
		if platform, ok := platformOf(name, version); ok {
			found.platforms = append(found.platforms, platform)
			problems = append(problems, within(name, i.checkArchive(content, platform, version)))
			if _, listed := sums.sums[name+".spdx.json"]; i.how == signed && !listed {
				problems = append(problems, fmt.Errorf("%s has no list of what is in it", name))
			}
		}
	}
	for _, platform := range wanted {
		if !slices.Contains(found.platforms, platform) {
			problems = append(problems, fmt.Errorf("there is none for %s", platform))
		}
	}
	return found, errors.Join(problems...)
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func within(name string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func manifestName(version string) string { return program + "_" + version + "_manifest.json" }

// platformOf reads "linux_amd64" off an archive's name, which is where registries
// read it.
func platformOf(name, version string) (string, bool) {
	rest, ours := strings.CutPrefix(name, program+"_"+version+"_")
	platform, archive := strings.CutSuffix(rest, ".zip")
	return platform, ours && archive
}

// checkManifest makes sure that the list has the manifest, as it will be
// published, and that it names our protocol: without it registries assume another.
func checkManifest(sums list, version string, manifest []byte) error {
	if sums.sums[manifestName(version)] != digest(manifest) {
		return fmt.Errorf("%s is not listed, or with another checksum", manifestName(version))
	}
	var said struct {
		Version  int
		Metadata struct {
			Protocols []string `json:"protocol_versions"`
		}
	}
	if err := json.Unmarshal(manifest, &said); err != nil {
		return err
	}
	if said.Version != 1 || !slices.Equal(said.Metadata.Protocols, []string{protocol}) {
		return fmt.Errorf("the manifest is not of version 1 with protocol %s: %s", protocol, manifest)
	}
	return nil
}

// checkSignatures looks for both signatures. The one for the registries must be
// binary, which shows in its first bit: they take no ASCII armour.
func checkSignatures(dist fs.FS, sums string, how signatures) error {
	if how == unsigned {
		return nil
	}
	var problems []error
	if signature, err := fs.ReadFile(dist, sums+".sig"); err != nil {
		problems = append(problems, err)
	} else if len(signature) == 0 || signature[0]&0x80 == 0 {
		problems = append(problems, fmt.Errorf("%s.sig is no binary signature", sums))
	}
	if bundle, err := fs.ReadFile(dist, sums+".sigstore.json"); err != nil {
		problems = append(problems, err)
	} else if !json.Valid(bundle) {
		problems = append(problems, fmt.Errorf("%s.sigstore.json is no JSON", sums))
	}
	return errors.Join(problems...)
}

// checkArchive makes sure that an archive holds the program, runnable, and nothing
// else.
func (i inspection) checkArchive(content []byte, platform, version string) error {
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return err
	}
	if len(archive.File) != 1 {
		return fmt.Errorf("%d files, not the program alone", len(archive.File))
	}
	system, processor, _ := strings.Cut(platform, "_")
	name := program + "_v" + version
	if system == "windows" {
		name += ".exe"
	}
	file := archive.File[0]
	if file.Name != name || file.Mode() != runnable {
		return fmt.Errorf("%s %s, want %s %s", file.Mode(), file.Name, runnable, name)
	}
	binary, err := fs.ReadFile(archive, name)
	if err != nil {
		return err
	}
	return i.checkProgram(binary, system, processor)
}

// checkProgram makes sure that it is the program that was tested, for the platform
// that its archive is named after.
func (i inspection) checkProgram(binary []byte, system, processor string) error {
	info, err := i.read(bytes.NewReader(binary))
	if err != nil {
		return err
	}
	settings := map[string]string{}
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	var problems []error
	want := maps.Clone(built)
	want["GOOS"], want["GOARCH"] = system, processor
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if settings[key] != want[key] {
			problems = append(problems, fmt.Errorf("built with %s=%q, want %q", key, settings[key], want[key]))
		}
	}
	if settings["vcs.revision"] == "" {
		problems = append(problems, errors.New("the program does not say of which commit it is"))
	}
	return errors.Join(problems...)
}
