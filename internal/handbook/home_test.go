package handbook_test

import (
	"archive/zip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// publicKey is the SSH public key in the home folder of the tests.
const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKJLu/BJj6IuH3Ssli37zXUHMHdBfD153tGyfACAryQ8 me@laptop\n"

// testVersion is the version of the provider in the tests. The documented version constraints accept it.
const testVersion = "0.1.0"

// newHome creates a home folder, so that tests neither read nor change the logins and CLI settings of the developer.
// "terraform init" installs the provider from its plugin folder.
func (setup *cliSetup) newHome(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	plugins := filepath.Join(home, ".terraform.d", "plugins", setup.host, "gpurent", "gpurent")
	name := fmt.Sprintf("terraform-provider-gpurent_%s_%s_%s.zip", testVersion, runtime.GOOS, runtime.GOARCH)
	if err := errors.Join(
		os.Mkdir(filepath.Join(home, ".ssh"), 0o700),
		os.WriteFile(filepath.Join(home, ".ssh", "id_ed25519.pub"), []byte(publicKey), 0o600),
		os.MkdirAll(plugins, 0o700),
		os.Link(setup.archive, filepath.Join(plugins, name)),
	); err != nil {
		t.Fatal(err)
	}
	return home
}

// archive packs the provider as a release does, without compression, and returns the path of the file.
func archive(t *testing.T, program string) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "provider.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	packed := zip.NewWriter(file)
	header := &zip.FileHeader{Name: "terraform-provider-gpurent_v" + testVersion}
	header.SetMode(0o755)
	entry, err := packed.CreateHeader(header)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := entry.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Name()
}

// homeEnv returns the environment variables of a home folder.
func homeEnv(home string) map[string]string {
	return map[string]string{
		"HOME":            home,
		"XDG_CONFIG_HOME": filepath.Join(home, ".config"),
		"XDG_DATA_HOME":   filepath.Join(home, ".local", "share"),
	}
}

// approval approves the printed code through the simulator's control API, as a user does in the browser.
const approval = `printed='Open \(.*\)/device in a browser and approve the code \([A-Z-]*\) .*'
until answer=$(sed -n "s|^$printed|\1/control/device-codes/\2|p" %[1]q)
	test -n "$answer"; do
	kill -0 $asking
	sleep 0.1
done
curl -fsS -X POST -H 'Content-Type: application/json' -d '{"decision": "approve"}' "$answer" >>%[2]q
wait $asking
`

// approve runs a login and approves it while the command waits.
func (g *guideRun) approve(n int, b snippet) {
	fmt.Fprintf(&g.text, "{\n%s} >%q 2>%q &\nasking=$!\n", b.text, g.file(n, "out"), g.file(n, "err"))
	fmt.Fprintf(&g.text, approval, g.file(n, "out"), g.file(n, "err"))
}
