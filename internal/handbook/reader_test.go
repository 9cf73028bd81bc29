package handbook_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// publicKey is what a reader has in ~/.ssh, as most do.
const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKJLu/BJj6IuH3Ssli37zXUHMHdBfD153tGyfACAryQ8 me@laptop\n"

// aHome makes a home of the reader's own: what is in that of a developer, such as a login or settings of a CLI, plays no
// part, and a login of the reader's does no harm to it.
func aHome(t *testing.T) string {
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

// atHome is the environment that makes a home the reader's.
func atHome(home string) map[string]string {
	return map[string]string{"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, ".config")}
}

// has says whether the reader's CLI is at least of a version. What guides mark so came to both CLIs with the same number.
func (g *guideRun) has(t *testing.T, version string) bool {
	t.Helper()
	at, err := acctest.CLI()
	if err != nil {
		t.Fatal(err)
	}
	return at.Has(version)
}

// approval is what a person does who is shown an address and a code: here, with a call of the simulator's control API.
const approval = `until answer=$(sed -n 's|^Open \(.*\)/device in a browser and approve the code \([A-Z-]*\) .*|\1/control/device-codes/\2|p' %[1]q)
	test -n "$answer"; do
	kill -0 $asking
	sleep 0.1
done
curl -fsS -X POST -H 'Content-Type: application/json' -d '{"decision": "approve"}' "$answer" >>%[2]q
wait $asking
`

// approve runs a login, which a person approves meanwhile.
func (g *guideRun) approve(n int, b block) {
	fmt.Fprintf(&g.text, "{\n%s} >%q 2>%q &\nasking=$!\n", b.text, g.file(n, "out"), g.file(n, "err"))
	fmt.Fprintf(&g.text, approval, g.file(n, "out"), g.file(n, "err"))
}
