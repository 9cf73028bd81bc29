package handbook_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// publicKey is the SSH public key in the home folder of the tests.
const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKJLu/BJj6IuH3Ssli37zXUHMHdBfD153tGyfACAryQ8 me@laptop\n"

// newHome creates a home folder, so that tests neither read nor change the logins and CLI settings of the developer.
func newHome(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	for _, folder := range []string{".ssh", ".config"} {
		if err := os.Mkdir(filepath.Join(home, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, ".ssh", "id_ed25519.pub"), []byte(publicKey), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

// homeEnv returns the environment variables of a home folder.
func homeEnv(home string) map[string]string {
	return map[string]string{"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, ".config")}
}

// cliHas reports whether the CLI has at least a version. Both CLIs have the marked features since the same version.
func (g *guideRun) cliHas(t *testing.T, version string) bool {
	t.Helper()
	at, err := acctest.CLI()
	if err != nil {
		t.Fatal(err)
	}
	return at.Has(version)
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
