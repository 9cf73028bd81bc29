package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// signing returns a stage and a folder with an unsigned release. It skips the test on a machine without gpg.
func signing(t *testing.T) (stage, string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("releases are signed on Linux")
	}
	for _, tool := range []string{"bash", "gpg", "gpg-agent", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s on this machine", tool)
		}
	}
	folder := t.TempDir()
	if err := os.CopyFS(folder, unsigned(t)); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return stage{root: root, out: t.Output()}, folder
}

// unsigned returns a release without its signature.
func unsigned(t *testing.T) fs.FS {
	t.Helper()
	dist := good(t)
	delete(dist, sumsName+".sig")
	return dist
}

// Terraform and OpenTofu accept the signature of the script in the release workflow.
func TestSign_Good(t *testing.T) {
	stage, folder := signing(t)
	key, err := stage.sign(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	release := inspection{dist: os.DirFS(folder), manifest: manifestText, check: isFor, sboms: true, key: key}
	if _, err := release.inspect(); err != nil {
		t.Error(err)
	}
	release.key = strangersKey
	if _, err := release.inspect(); err == nil || !strings.Contains(err.Error(), "unknown entity") {
		t.Errorf("error %v, want one about the key", err)
	}
	// A changed list of checksums invalidates the signature.
	release.key = key
	list := filepath.Join(folder, sumsName)
	content, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	content = bytes.Replace(content, []byte("linux_amd64"), []byte("linux_amd65"), 1)
	if err := os.WriteFile(list, content, fileMode); err != nil {
		t.Fatal(err)
	}
	if _, err := release.inspect(); err == nil || !strings.Contains(err.Error(), sumsName+".sig: ") {
		t.Errorf("error %v, want one about the signature", err)
	}
}

// Only verified files are signed, and only with an RSA key.
func TestSign_Refuses(t *testing.T) {
	for name, test := range map[string]struct {
		key    *openpgp.Entity
		change func(t *testing.T, folder string)
	}{
		"a changed archive": {testKey, func(t *testing.T, folder string) {
			if err := os.WriteFile(filepath.Join(folder, linuxArchive), []byte("x"), fileMode); err != nil {
				t.Fatal(err)
			}
		}},
		"another list of valid checksums": {testKey, func(t *testing.T, folder string) {
			line := fmt.Sprintf("%s  %s\n", digest(manifestText), manifestName(testVersion))
			if err := os.WriteFile(filepath.Join(folder, sumsName), []byte(line), fileMode); err != nil {
				t.Fatal(err)
			}
		}},
		"a second list": {testKey, func(t *testing.T, folder string) {
			if err := os.WriteFile(filepath.Join(folder, "z_SHA256SUMS"), nil, fileMode); err != nil {
				t.Fatal(err)
			}
		}},
		"no list": {testKey, func(t *testing.T, folder string) {
			if err := os.Remove(filepath.Join(folder, sumsName)); err != nil {
				t.Fatal(err)
			}
		}},
		// The registries reject it.
		"an elliptic curve": {newKey(packet.PubKeyAlgoEdDSA), func(*testing.T, string) {}},
	} {
		t.Run(name, func(t *testing.T) {
			stage, folder := signing(t)
			content, err := os.ReadFile(filepath.Join(folder, sumsName))
			if err != nil {
				t.Fatal(err)
			}
			test.change(t, folder)
			if err := stage.signWith(t.Context(), test.key, folder, digest(content)); err == nil {
				t.Error("no error")
			}
		})
	}
}

// A wrong fingerprint and a missing key are errors.
func TestSign_KeyAndFingerprint(t *testing.T) {
	secret, err := armoredSecret(testKey)
	if err != nil {
		t.Fatal(err)
	}
	fingerprint := fmt.Sprintf("%X", testKey.PrimaryKey.Fingerprint)
	for name, environment := range map[string][]string{
		"another fingerprint": {
			"GPG_PRIVATE_KEY=" + secret, fmt.Sprintf("GPG_FINGERPRINT=%X", strangersKey.PrimaryKey.Fingerprint),
		},
		"a short fingerprint": {"GPG_PRIVATE_KEY=" + secret, "GPG_FINGERPRINT=" + fingerprint[24:]},
		"no key":              {"GPG_PRIVATE_KEY=", "GPG_FINGERPRINT=" + fingerprint},
		"not a key":           {"GPG_PRIVATE_KEY=key", "GPG_FINGERPRINT=" + fingerprint},
	} {
		t.Run(name, func(t *testing.T) {
			stage, folder := signing(t)
			list, err := checksums(os.DirFS(folder))
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(),
				"bash", filepath.Join(stage.root, signScript), folder, digest([]byte(list.text)))
			cmd.Env = append(os.Environ(), environment...)
			if out, err := cmd.CombinedOutput(); err == nil {
				t.Errorf("no error: %s", out)
			}
			if _, err := os.Stat(filepath.Join(folder, sumsName+".sig")); err == nil {
				t.Error("the script created a signature")
			}
		})
	}
}

// verify checks the programs and the signature, not only file names.
func TestVerify_ChecksProgramsAndSignature(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.CopyFS(folder, good(t)); err != nil {
		t.Fatal(err)
	}
	err = stage{root: root, out: t.Output()}.verify(t.Context(), folder, true, strangersKey)
	for _, want := range []string{"linux_amd64.zip: unrecognized file format", "SHA256SUMS.sig: openpgp: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
