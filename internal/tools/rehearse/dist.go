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
	// protocol is the version of the plugin protocol that the provider implements.
	protocol = "6.0"
	// runnable is the mode of a program, which registries and CLIs keep.
	runnable fs.FileMode = 0o755
)

// release is the version and the platforms of the archives in a folder.
type release struct {
	version   string
	platforms []string
}

// list is a file with checksums.
type list struct {
	name, text string
	sums       map[string]string // hexadecimal, by file name
}

// version returns the version of the release.
func (l list) version() string {
	return strings.TrimSuffix(strings.TrimPrefix(l.name, binary+"_"), "_SHA256SUMS")
}

// checksums reads the only list of checksums in a folder.
func checksums(dist fs.FS) (list, error) {
	names, err := fs.Glob(dist, "*_SHA256SUMS")
	if err != nil {
		return list{}, err
	}
	if len(names) != 1 {
		return list{}, fmt.Errorf("%d lists of checksums, want 1", len(names))
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
			return list{}, fmt.Errorf("%s: %q is not a checksum", found.name, each)
		}
		found.sums[parts[2]] = parts[1]
	}
	return found, nil
}

// inspection checks a release.
type inspection struct {
	dist     fs.FS
	manifest []byte // the manifest for the registries, from the source
	// check returns the problems of a program for a platform.
	check func(content []byte, platform string) error
	// sboms requires an SPDX file for each archive.
	sboms bool
	// key is the key that signed the list of checksums, nil before the signing.
	key *openpgp.Entity
}

// inspect returns an error for everything that the registries of Terraform and OpenTofu would reject, and for every
// program that must not be released.
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
			continue // other files of GoReleaser, the list itself and its signatures
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
			problems = append(problems, fmt.Errorf("%s does not have the listed checksum", name))
		}
		if platform, ok := platformOf(name, version); ok {
			found.platforms = append(found.platforms, platform)
			problems = append(problems, within(name, i.checkArchive(content, platform, version)))
			if _, listed := sums.sums[name+".spdx.json"]; i.sboms && !listed {
				problems = append(problems, fmt.Errorf("%s has no SPDX file", name))
			}
		}
	}
	for _, platform := range program.Platforms {
		if !slices.Contains(found.platforms, platform) {
			problems = append(problems, fmt.Errorf("there is no archive for %s", platform))
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

// platformOf returns the platform, such as "linux_amd64", from the name of an archive, as registries do.
func platformOf(name, version string) (string, bool) {
	rest, ours := strings.CutPrefix(name, binary+"_"+version+"_")
	platform, archive := strings.CutSuffix(rest, ".zip")
	return platform, ours && archive
}

// checkManifest checks that the list contains the manifest, and that the manifest names the protocol. Without a
// manifest registries assume protocol 5.0.
func checkManifest(sums list, version string, manifest []byte) error {
	if sums.sums[manifestName(version)] != digest(manifest) {
		return fmt.Errorf("%s is not listed with its checksum", manifestName(version))
	}
	var parsed struct {
		Version  int
		Metadata struct {
			Protocols []string `json:"protocol_versions"`
		}
	}
	if err := json.Unmarshal(manifest, &parsed); err != nil {
		return err
	}
	if parsed.Version != 1 || !slices.Equal(parsed.Metadata.Protocols, []string{protocol}) {
		return fmt.Errorf("the manifest does not have version 1 and protocol %s: %s", protocol, manifest)
	}
	return nil
}

// checkArchive checks that an archive contains the executable program and nothing else.
func (i inspection) checkArchive(content []byte, platform, version string) error {
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return err
	}
	if len(archive.File) != 1 {
		return fmt.Errorf("%d files, want only the program", len(archive.File))
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
