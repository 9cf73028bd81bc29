// Command rehearse does what a release does, without keys, tags or a network, and
// proves what comes out.
//
//	rehearse check            .goreleaser.yml is valid
//	rehearse snapshot         all platforms into dist/, and dist/ is what registries want
//	rehearse reproducible     one commit, built in two places: equal to the byte
//	rehearse verify FOLDER    a folder with a release is what registries want
//	rehearse notes VERSION    the version's section of CHANGELOG.md
//
// The last two are steps of the real release.
package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
)

const (
	configFile    = ".goreleaser.yml"
	changelogFile = "CHANGELOG.md"
	manifestFile  = "terraform-registry-manifest.json"
)

var errUsage = errors.New("usage: rehearse check | snapshot | reproducible | verify FOLDER | notes VERSION")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "rehearse:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, arguments []string) (err error) {
	if len(arguments) == 0 {
		return errUsage
	}
	root, err := clis.Root(ctx)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "gpurent-release-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	stage := stage{root: root, work: work, out: out}
	switch command, rest := arguments[0], arguments[1:]; {
	case command == "check" && len(rest) == 0:
		return stage.check(ctx)
	case command == "snapshot" && len(rest) == 0:
		return stage.snapshot(ctx)
	case command == "reproducible" && len(rest) == 0:
		return stage.reproducible(ctx)
	case command == "verify" && len(rest) == 1:
		return stage.verify(rest[0], signed)
	case command == "notes" && len(rest) == 1:
		return stage.notes(rest[0])
	}
	return errUsage
}

// notes prints what CHANGELOG.md says of a version: the text of its release.
func (s stage) notes(version string) error {
	changelog, err := os.ReadFile(filepath.Join(s.root, changelogFile))
	if err != nil {
		return err
	}
	section, err := sectionOf(string(changelog), version)
	if err != nil {
		return fmt.Errorf("%s: %w", changelogFile, err)
	}
	_, err = io.WriteString(s.out, section)
	return err
}

// verify looks at a folder that GoReleaser filled.
func (s stage) verify(folder string, how signatures) error {
	manifest, err := os.ReadFile(filepath.Join(s.root, manifestFile))
	if err != nil {
		return err
	}
	found, err := inspection{dist: os.DirFS(folder), manifest: manifest, how: how, read: buildinfo.Read}.inspect()
	if err != nil {
		return fmt.Errorf("%s is not what registries want:\n%w", folder, err)
	}
	_, err = fmt.Fprintf(s.out, "%s: version %s for %d platforms, as registries want it\n", folder, found.version, len(found.platforms))
	return err
}
