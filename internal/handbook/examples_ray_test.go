package handbook_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// The head and the workers can be replaced independently. join.sh gives access to the current workers only.
func rayStory(l *exampleRun) {
	before := l.cluster(3) // the README has added a worker
	l.Run("apply")
	l.checkJoin(l.cluster(2))
	l.expectWords(
		l.plan(2, "-var=workers=1"), "slot 1: destroyed, because size is 1", "0 to add, 1 to change, 0 to destroy",
	)
	l.expectWords(l.plan(2, "-var=running=false"), "0 to add, 2 to change, 0 to destroy")

	l.Run("apply", "-replace=gpurent_instance.head")
	after := l.cluster(2)
	for name, was := range before {
		if now := after[name]; name != "ray-worker-2" && (now.ID == was.ID) != (name != "ray-head") {
			l.t.Errorf("after another head %s is %+v, was %+v", name, now, was)
		}
	}
	l.checkJoin(after)
	l.setPrice(after["ray-worker-0"].Offer, 3400)
	l.expectWords(l.plan(2), "0 to add, 1 to change, 0 to destroy")
	l.Run("apply")
	l.expectNoChanges()
	l.checkStart("head", after["ray-head"], map[string][]string{
		"sshd": {"-p 2222 ", "PermitTunnel=point-to-point", "AllowTcpForwarding=no", "ForceCommand=/bin/false"},
		"ray": {
			"start --head --port=6379 --dashboard-host=127.0.0.1 ",
			"--node-ip-address=10.77.0.1 ",
			"mode=token token=" + l.Read("ray-token"),
		},
	})
	worker := after["ray-worker-1"]
	l.checkStart("worker", worker, map[string][]string{
		"ssh": {
			"-w 0:2 ",
			fmt.Sprintf("-p %d ", after["ray-head"].SSH.Port+1),
			"StrictHostKeyChecking=yes",
			"root@" + after["ray-head"].SSH.Host,
		},
		"ray": {"start --address=10.77.0.1:6379 --node-ip-address=10.77.0.3 ", "mode=token token=" + l.Read("ray-token")},
		"ip":  {"addr replace 10.77.0.3 peer 10.77.0.1 dev tun0"},
	})
}

// cluster returns the head and the workers by name. All workers are in one country.
func (l *exampleRun) cluster(workers int) map[string]server {
	l.t.Helper()
	all := l.members(workers)
	countries := map[string]bool{}
	for _, worker := range all {
		countries[worker.Country] = true
	}
	if len(countries) > 1 {
		l.t.Errorf("the workers are in the countries %v", countries)
	}
	maps.Copy(all, l.servers(1))
	return all
}

// checkJoin runs join.sh and checks the files that it has written on the servers.
func (l *exampleRun) checkJoin(servers map[string]server) {
	l.t.Helper()
	l.follow([]snippet{{language: "sh", text: "./join.sh\n"}})
	at := func(s server, file string) string {
		content, err := os.ReadFile(filepath.Join(l.home, strconv.Itoa(s.SSH.Port), file))
		if err != nil {
			l.t.Error(err)
		}
		return strings.TrimSpace(string(content))
	}
	head, token := servers["ray-head"], l.Read("ray-token")
	if len(token) != 64 || at(head, "token") != token {
		l.t.Errorf("the token is %q, on the head %q", token, at(head, "token"))
	}
	var admitted []string
	for n := 1; n < len(servers); n++ {
		worker := servers[fmt.Sprintf("ray-worker-%d", n-1)]
		admitted = append(admitted, fmt.Sprintf(`restrict,tunnel="%d" ssh-ed25519 KEY%d`, n, worker.SSH.Port))
		for file, want := range map[string]string{
			"token": token, "number": strconv.Itoa(n), "known_hosts": fmt.Sprintf("ray-head ssh-ed25519 HOST%d", head.SSH.Port),
			// The simulator assigns the port after SSH to the first port of the template.
			"tunnel_address": fmt.Sprintf("%s %d", head.SSH.Host, head.SSH.Port+1),
		} {
			if got := at(worker, file); got != want {
				l.t.Errorf("worker %d has %q in %s, want %q", n, got, file, want)
			}
		}
	}
	if got := at(head, "authorized_keys"); got != strings.Join(admitted, "\n") {
		l.t.Errorf("the head admits:\n%s\nwant:\n%s", got, strings.Join(admitted, "\n"))
	}
}

// fakePrograms are the programs of a server. Each logs its arguments; ssh and ray also end the endless retry loop.
var fakePrograms = map[string]string{
	"ip": "", "pip": "", "sshd": "", "ssh-keygen": "",
	"ssh": "kill $PPID",
	"ray": `echo "mode=$RAY_AUTH_MODE token=$(cat "$RAY_AUTH_TOKEN_PATH")" >>"$LOGS/ray"; test "$1" = start || kill $PPID`,
}

// checkStart runs the start command of a role's template in the folder of a server that has joined. want maps programs
// to parts of their arguments.
func (l *exampleRun) checkStart(role string, s server, want map[string][]string) {
	l.t.Helper()
	bin, logs, folder := l.t.TempDir(), l.t.TempDir(), filepath.Join(l.home, strconv.Itoa(s.SSH.Port))
	for name, what := range fakePrograms {
		text := fmt.Sprintf("#!/bin/sh\necho \"$*\" >>\"$LOGS/%s\"\n%s\n", name, what)
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700); err != nil {
			l.t.Fatal(err)
		}
	}
	script := ""
	for _, own := range acctest.SavedIn[struct{ Name, Onstart string }](l.Workspace, "gpurent_template") {
		if strings.HasSuffix(own.Attributes.Name, role) {
			script = own.Attributes.Onstart
		}
	}
	if strings.Contains(script, strings.TrimSpace(l.Read("ray-token"))) || len(script) > 4000 {
		l.t.Errorf("the %s's template has %d characters, or the token in it:\n%s", role, len(script), script)
	}
	script, background := strings.CutSuffix(script, " &")
	if !background {
		l.t.Errorf("the start of a %s never ends:\n%s", role, script)
	}
	script = strings.NewReplacer("/root/cluster.log", logs+"/log", "/root/cluster", folder, "/run/sshd", logs+"/run",
		"/proc/sys/net/ipv4/ip_forward", logs+"/forward").Replace(script)
	command := exec.CommandContext(l.t.Context(), "sh", "-c", script)
	command.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "LOGS="+logs)
	err := command.Run() // the last fake program ends it with a signal
	for name, parts := range want {
		content, readErr := os.ReadFile(filepath.Join(logs, name))
		deadline := time.Now().Add(10 * time.Second)
		for ; readErr != nil && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			content, readErr = os.ReadFile(filepath.Join(logs, name))
		}
		for _, part := range parts {
			if !strings.Contains(string(content), part) {
				l.t.Errorf("a %s does not run %s with %q (%v):\n%s", role, name, part, err, content)
			}
		}
	}
}
