package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	yaml "github.com/oasdiff/yaml3"
)

const (
	// toolModule requires a version of GoReleaser. It is a separate module because it has hundreds of dependencies.
	toolModule = "internal/tools/release/go.mod"
	// home is the remote of the clones, because GoReleaser requires one. It is not contacted.
	home = "https://github.com/gpurent/terraform-provider-gpurent.git"

	folderMode = 0o755
	fileMode   = 0o644
)

// stage contains the folders of a rehearsal.
type stage struct {
	root string // the module's folder
	work string // a temporary folder
	out  io.Writer
}

// check lets GoReleaser check its configuration in an empty repository with a remote, because this clone may have none.
func (s stage) check(ctx context.Context) error {
	for _, arguments := range [][]string{{"init", "--quiet", s.work}, {"-C", s.work, "remote", "add", "origin", home}} {
		if err := s.command(ctx, s.root, "git", arguments...).Run(); err != nil {
			return fmt.Errorf("git %s: %w", strings.Join(arguments, " "), err)
		}
	}
	return s.goreleaser(ctx, s.work, nil, "check", filepath.Join(s.root, configFile))
}

// snapshot builds the last commit for all platforms into dist/, signs it with a temporary key, and verifies it. It
// creates no SPDX files, which need Syft, and no Sigstore signature, which needs a network.
func (s stage) snapshot(ctx context.Context) error {
	dist := filepath.Join(s.root, "dist")
	if err := s.release(ctx, "snapshot", dist, nil, nil); err != nil {
		return err
	}
	if err := s.addManifest(dist); err != nil {
		return err
	}
	key, err := s.sign(ctx, dist)
	if err != nil {
		return err
	}
	return s.verify(ctx, dist, false, key)
}

// addManifest copies the manifest to the file name in the list of checksums.
func (s stage) addManifest(dist string) error {
	content, err := os.ReadFile(filepath.Join(s.root, manifestFile))
	if err != nil {
		return err
	}
	folder, err := os.OpenRoot(dist)
	if err != nil {
		return err
	}
	list, err := checksums(folder.FS())
	if err == nil {
		err = folder.WriteFile(manifestName(list.version()), content, fileMode)
	}
	return errors.Join(err, folder.Close())
}

// reproducible builds the last commit for this platform in two folders with two time zones, and compares the lists of
// checksums, which cover every published file.
func (s stage) reproducible(ctx context.Context) error {
	platform := []string{runtime.GOOS + "_" + runtime.GOARCH}
	var lists [2]string
	for n, zone := range []string{"UTC", "Asia/Vladivostok"} {
		place := path.Join(strings.Repeat("deeper/", n), fmt.Sprintf("place-%d", n+1))
		dist := filepath.Join(s.work, fmt.Sprintf("dist-%d", n+1))
		if err := s.release(ctx, place, dist, platform, []string{"TZ=" + zone}); err != nil {
			return err
		}
		list, err := checksums(os.DirFS(dist))
		if err != nil {
			return err
		}
		lists[n] = list.text
	}
	if lists[0] != lists[1] {
		return fmt.Errorf("two builds of one commit differ:\n%s\n%s", lists[0], lists[1])
	}
	_, err := fmt.Fprintf(s.out, "Two builds of one commit are equal to the byte:\n%s", lists[0])
	return err
}

// release lets GoReleaser build and pack the last commit in a separate clone, for the given targets or for all.
func (s stage) release(ctx context.Context, place, dist string, targets, env []string) error {
	clone := filepath.Join(s.work, filepath.FromSlash(place))
	if err := s.clone(ctx, clone); err != nil {
		return err
	}
	config := clone + ".yml"
	if err := s.configure(config, dist, targets); err != nil {
		return err
	}
	begin := time.Now()
	err := s.goreleaser(ctx, clone, env, "release", "--config", config, "--snapshot", "--clean", "--skip=sbom")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "built and packed in %.0f seconds\n", time.Since(begin).Seconds())
	return err
}

// clone clones the last commit, as the release workflow does.
func (s stage) clone(ctx context.Context, folder string) error {
	status := s.command(ctx, s.root, "git", "status", "--porcelain")
	status.Stdout = nil
	changed, err := status.Output()
	if err != nil {
		return fmt.Errorf("git status: %w", err)
	}
	if len(changed) > 0 {
		if _, err := fmt.Fprintln(s.out, "Uncommitted changes are not included."); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(folder), folderMode); err != nil {
		return err
	}
	if err := s.command(ctx, s.root, "git", "clone", "--quiet", s.root, folder).Run(); err != nil {
		return fmt.Errorf("git clone: %w", err)
	}
	return s.command(ctx, folder, "git", "remote", "set-url", "origin", home).Run()
}

// configure writes a copy of the configuration with another output folder and, if targets are given, with these
// targets.
func (s stage) configure(file, dist string, targets []string) error {
	content, err := os.ReadFile(filepath.Join(s.root, configFile))
	if err != nil {
		return err
	}
	config := map[string]any{}
	if err := yaml.Unmarshal(content, &config); err != nil {
		return fmt.Errorf("%s: %w", configFile, err)
	}
	config["dist"] = dist
	if len(targets) > 0 {
		builds, ok := config["builds"].([]any)
		if !ok || len(builds) != 1 {
			return errors.New(configFile + " does not have exactly one build")
		}
		build, ok := builds[0].(map[string]any)
		if !ok {
			return errors.New(configFile + ": the build is not a mapping")
		}
		build["targets"] = targets
	}
	if content, err = yaml.Marshal(config); err != nil {
		return err
	}
	return os.WriteFile(file, content, fileMode)
}

// goreleaser runs the GoReleaser of the tool module. It runs the program by its path because the working folder is
// another module.
func (s stage) goreleaser(ctx context.Context, folder string, env []string, arguments ...string) error {
	find := s.command(ctx, s.root, "go", "tool", "-modfile="+filepath.FromSlash(toolModule), "-n", "goreleaser")
	find.Stdout = nil
	program, err := find.Output()
	if err != nil {
		return fmt.Errorf("building GoReleaser: %w", err)
	}
	cmd := s.command(ctx, folder, strings.TrimSpace(string(program)), arguments...)
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("goreleaser %s: %w", arguments[0], err)
	}
	return nil
}

func (s stage) command(ctx context.Context, folder, name string, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, arguments...) //nolint:gosec // constants and own paths
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, s.out, os.Stderr
	cmd.WaitDelay = time.Second
	return cmd
}
