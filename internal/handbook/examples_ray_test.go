package handbook_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// join.sh gives access to the current workers only, even after another head. The scripts of the templates run.
func rayStory(l *exampleRun) {
	l.expectPlan("running=false", "0 to add, 2 to change, 0 to destroy")
	before := l.members()
	l.Run("apply") // destroys the worker that the README has added
	l.join()
	l.Run("apply", "-replace=gpurent_instance.head")
	head, workers, token := l.servers()["ray-head"], l.join(), l.Read("ray-token")
	if workers["ray-worker-1"].ID != before["ray-worker-1"].ID {
		l.t.Errorf("with another head the workers are %+v, were %+v", workers, before)
	}

	ray := "mode=token token=" + token
	l.checkStart("head", head.SSH.Port, map[string][]string{
		"sshd": {"-p 2222 ", "PermitTunnel=point-to-point", "AllowTcpForwarding=no", "ForceCommand=/bin/false"},
		"ray":  {"start --head --port=6379 --dashboard-host=127.0.0.1 ", "--node-ip-address=10.77.0.1 ", ray},
	})
	l.checkStart("worker", workers["ray-worker-1"].Port, map[string][]string{
		"ssh": {
			"-w 0:2 ", fmt.Sprintf("-p %d ", head.SSH.Port+1), "StrictHostKeyChecking=yes", "root@" + head.SSH.Host,
		},
		"ray": {"start --address=10.77.0.1:6379 --node-ip-address=10.77.0.3 ", ray},
		"ip":  {"addr replace 10.77.0.3 peer 10.77.0.1 dev tun0"},
	})

	// The cluster continues without a worker that was outbid and costs more than its cap, but not without all workers.
	outbid := simulator.OfferPatch{InterruptibleKopH: new(int64(9500))}
	l.setOffer(workers["ray-worker-0"].Offer, outbid)
	expectWords(l.t, l.Run("apply"), "Fleet ray-worker is not complete", "costs 95.00 ₽ per hour")
	l.setOffer(workers["ray-worker-1"].Offer, outbid)
	output, err := l.Try("apply")
	if err == nil {
		l.t.Error("the apply succeeds without a worker")
	}
	expectWords(l.t, output, "Fleet ray-worker has too few ready members")
}

// join runs join.sh, checks what it writes on the servers, and returns the workers.
func (l *exampleRun) join() map[string]member {
	l.t.Helper()
	l.follow(snippet{language: "sh", text: "./join.sh\n"})
	head, workers, token := l.servers()["ray-head"], l.members(), l.Read("ray-token")
	admitted := ""
	for n := range len(workers) {
		worker := workers[fmt.Sprintf("ray-worker-%d", n)]
		admitted += fmt.Sprintf("restrict,tunnel=\"%d\" ssh-ed25519 KEY%d\n", n+1, worker.Port)
		l.expectFiles(worker.Port, map[string]string{
			"token": token, "number": strconv.Itoa(n+1) + "\n",
			"known_hosts": fmt.Sprintf("ray-head ssh-ed25519 HOST%d\n", head.SSH.Port),
			// The simulator assigns the port after SSH to the first port of the template.
			"tunnel_address": fmt.Sprintf("%s %d\n", head.SSH.Host, head.SSH.Port+1),
		})
	}
	l.expectFiles(head.SSH.Port, map[string]string{"token": token, "authorized_keys": admitted})
	return workers
}

// expectFiles compares the files that join.sh has written on the server with this port.
func (l *exampleRun) expectFiles(port int, files map[string]string) {
	l.t.Helper()
	for file, want := range files {
		if got := textOf(l.t, filepath.Join(l.home, strconv.Itoa(port), file)); got != want {
			l.t.Errorf("%s on the server with port %d is:\n%s\nwant:\n%s", file, port, got, want)
		}
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
func (l *exampleRun) checkStart(role string, port int, want map[string][]string) {
	l.t.Helper()
	bin, logs := l.t.TempDir(), l.t.TempDir()
	for name, what := range fakePrograms {
		write(l.t, fmt.Sprintf("#!/bin/sh\necho \"$*\" >>\"$LOGS/%s\"\n%s\n", name, what), bin, name)
	}
	text := ""
	for _, own := range acctest.SavedIn[struct{ Name, Onstart string }](l.Workspace, "gpurent_template") {
		if strings.HasSuffix(own.Attributes.Name, role) {
			text = own.Attributes.Onstart
		}
	}
	text, background := strings.CutSuffix(text, " &")
	if strings.Contains(text, l.Read("ray-token")) || !background {
		l.t.Errorf("the %s's template has the token in it, or its start never ends:\n%s", role, text)
	}
	text = strings.NewReplacer(
		"/root/cluster.log", logs+"/log", "/root/cluster", filepath.Join(l.home, strconv.Itoa(port)),
		"/run/sshd", logs+"/run", "/proc/sys/net/ipv4/ip_forward", logs+"/forward",
	).Replace(text)
	command := exec.CommandContext(l.t.Context(), "sh", "-c", text)
	command.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "LOGS="+logs)
	err := command.Run() // the last fake program ends it with a signal
	for name, parts := range want {
		file := filepath.Join(logs, name)
		for range 1000 { // the script runs some programs in the background
			if _, missing := os.Stat(file); missing == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		content := textOf(l.t, file)
		for _, part := range parts {
			if !strings.Contains(content, part) {
				l.t.Errorf("a %s does not run %s with %q (%v):\n%s", role, name, part, err, content)
			}
		}
	}
}
