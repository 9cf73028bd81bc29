package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/program"
)

const (
	binary = "terraform-provider-gpurent"
	// protocol is the version of the plugin protocol that the provider speaks.
	protocol = "6.0"
	// runnable is the mode of a program: a CLI starts it as it was packed.
	runnable fs.FileMode = 0o755
)

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

// version is the version of the release that a list belongs to.
func (l list) version() string {
	return strings.TrimSuffix(strings.TrimPrefix(l.name, binary+"_"), "_SHA256SUMS")
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

// inspection is what a release is checked with.
type inspection struct {
	dist     fs.FS
	manifest []byte // the registries' manifest, as it is in the source
	// check reports what is wrong with a program for a platform.
	check func(content []byte, platform string) error
	// sboms tells whether each archive must come with a list of what is in it.
	sboms bool
	// key must have signed the list of checksums; nil before a release is signed.
	key *openpgp.Entity
}

// inspect reports everything in a folder that the registries of Terraform and OpenTofu
// would refuse, and every program that is not the one to release.
func (i inspection) inspect() (release, error) {
	dist := i.dist
	sums, err := checksums(dist)
	if err != nil {
		return release{}, err
	}
	version := sums.version()
	found := release{version: version}
	files, err := fs.ReadDir(dist, ".")
	if err != nil {
		return release{}, err
	}
	problems := []error{checkManifest(sums, version, i.manifest)}
	if i.key != nil {
		problems = append(problems, checkSignature(dist, sums, i.key))
	}
	for _, file := range files {
		name := file.Name()
		if file.IsDir() || !strings.HasPrefix(name, binary+"_") || strings.HasPrefix(name, sums.name) {
			continue // what GoReleaser leaves behind, the list itself, and its signatures
		}
		if _, listed := sums.sums[name]; !listed {
			problems = append(problems, fmt.Errorf("%s is not in the list of checksums", name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sums.sums)) {
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
			if _, listed := sums.sums[name+".spdx.json"]; i.sboms && !listed {
				problems = append(problems, fmt.Errorf("%s has no list of what is in it", name))
			}
		}
	}
	for _, platform := range program.Platforms {
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

func manifestName(version string) string { return binary + "_" + version + "_manifest.json" }

// platformOf reads "linux_amd64" off an archive's name, which is where registries
// read it.
func platformOf(name, version string) (string, bool) {
	rest, ours := strings.CutPrefix(name, binary+"_"+version+"_")
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

// checkArchive makes sure that an archive holds the program, executable, and nothing
// else.
func (i inspection) checkArchive(content []byte, platform, version string) error {
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return err
	}
	if len(archive.File) != 1 {
		return fmt.Errorf("%d files, not the program alone", len(archive.File))
	}
	name := binary + "_v" + version
	if strings.HasPrefix(platform, "windows_") {
		name += ".exe"
	}
	file := archive.File[0]
	if file.Name != name || file.Mode() != runnable {
		return fmt.Errorf("%s %s, want %s %s", file.Mode(), file.Name, runnable, name)
	}
	built, err := fs.ReadFile(archive, name)
	if err != nil {
		return err
	}
	return i.check(built, platform)
}
