// Command rehearse performs the steps of a release without the publisher's key, a tag or a network, and checks the
// result.
//
//	rehearse check                 check .goreleaser.yml
//	rehearse snapshot              build all platforms into dist/, sign and verify it
//	rehearse reproducible          build one commit in two places and compare every byte
//	rehearse verify FOLDER [KEY]   check a release, with its signature if a public key is given
//	rehearse notes VERSION         print the version's section of CHANGELOG.md
//
// The release workflow runs the last two, and sign.sh, which snapshot runs as well.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ProtonMail/go-crypto/openpgp"

	"github.com/gpurent/terraform-provider-gpurent/internal/tools/clis"
	"github.com/gpurent/terraform-provider-gpurent/internal/tools/program"
)

const (
	configFile    = ".goreleaser.yml"
	changelogFile = "CHANGELOG.md"
	manifestFile  = "terraform-registry-manifest.json"
)

var errUsage = errors.New("usage: rehearse check | snapshot | reproducible | verify FOLDER [KEY] | notes VERSION")

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
		return stage.verify(ctx, rest[0], true, nil)
	case command == "verify" && len(rest) == 2:
		key, err := readPublicKey(rest[1])
		if err != nil {
			return err
		}
		return stage.verify(ctx, rest[0], true, key)
	case command == "notes" && len(rest) == 1:
		return stage.notes(rest[0])
	}
	return errUsage
}

// notes prints the section of CHANGELOG.md about a version, which is the text of its release.
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

// verify checks a folder with the output of GoReleaser for the last commit.
func (s stage) verify(ctx context.Context, folder string, sboms bool, key *openpgp.Entity) error {
	manifest, err := os.ReadFile(filepath.Join(s.root, manifestFile))
	if err != nil {
		return err
	}
	rules, err := program.ReadRules(os.DirFS(s.root))
	if err != nil {
		return err
	}
	head := s.command(ctx, s.root, "git", "rev-parse", "HEAD")
	head.Stdout = nil
	commit, err := head.Output()
	if err != nil {
		return fmt.Errorf("git rev-parse: %w", err)
	}
	rules.Commit = strings.TrimSpace(string(commit))
	found, err := inspection{
		dist: os.DirFS(folder), manifest: manifest, check: rules.Check, sboms: sboms, key: key,
	}.inspect()
	if err != nil {
		return fmt.Errorf("%s cannot be released:\n%w", folder, err)
	}
	_, err = fmt.Fprintf(s.out, "%s: version %s for %d platforms is complete\n",
		folder, found.version, len(found.platforms))
	return err
}
