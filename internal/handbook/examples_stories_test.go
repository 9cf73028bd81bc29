package handbook_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// market sets what an interruptible server costs at an offer.
func (l *life) market(offer string, kopH int64) {
	l.t.Helper()
	if err := l.env.SetOffer(offer, simulator.OfferPatch{InterruptibleKopH: &kopH}); err != nil {
		l.t.Fatal(err)
	}
}

// A better offer comes, and the server stays. A state that was lost leads to the same server, not to a second one.
func singleStory(l *life) {
	before := l.servers(1)["single"]
	cheap := int64(1)
	if err := l.env.SetOffer(l.env.CheapestOffer("rtx_4090", "on_demand").ID, simulator.OfferPatch{OnDemandKopH: &cheap}); err != nil {
		l.t.Fatal(err)
	}
	l.nothingToDo()
	l.Run("state", "rm", "gpurent_instance.server")
	l.Run("apply")
	if after := l.servers(1)["single"]; after.ID != before.ID || after.Status != "running" {
		l.t.Errorf("the server is %+v, was %+v", after, before)
	}
	if asked, err := os.ReadFile(filepath.Join(l.home, "asked")); err != nil || string(asked) != fmt.Sprintf("-p %d root@%s\n", before.SSH.Port, before.SSH.Host) {
		l.t.Errorf("ssh was asked for %q, want the server at port %d (%v)", asked, before.SSH.Port, err)
	}
}

// One server stops alone, and one that is destroyed elsewhere comes back alone.
func fleetStory(l *life) {
	before := l.servers(2)
	l.says(l.plan(2, `-var=stopped=["trainer-2"]`), "0 to add, 1 to change, 0 to destroy")
	l.says(l.plan(2, "-var=servers=3"), `server["trainer-3"] will be created`, "1 to add, 0 to change, 0 to destroy")
	if said, err := l.Try("plan", `-var=stopped=["trainer-3"]`); err == nil {
		l.t.Errorf("a server that is not there was stopped:\n%s", said)
	}
	l.env.Delete("instances/" + before["trainer-1"].ID)
	l.Run("apply")
	after := l.servers(2)
	if after["trainer-2"].ID != before["trainer-2"].ID || after["trainer-1"].ID == before["trainer-1"].ID {
		l.t.Errorf("the servers are %+v, were %+v", after, before)
	}
}

// Outbid within the cap: the next apply bids again. Above it: the apply fails, says so, and leaves the server and the
// others as they are.
func spotFleetStory(l *life) {
	l.nothingToDo()
	before := l.servers(3)
	spot := before["spot-1"]
	l.market(spot.Offer, 3000)
	l.says(l.plan(2), `"outbid" -> (known after apply)`, "0 to add, 1 to change, 0 to destroy")
	l.Run("apply")
	if now := l.servers(3)["spot-1"]; now.ID != spot.ID || now.Status != "running" {
		l.t.Errorf("after a bid within the cap: %+v", now)
	}
	l.nothingToDo()

	l.market(spot.Offer, 9500)
	said, err := l.Try("apply")
	if err == nil {
		l.t.Errorf("an apply paid more than the cap:\n%s", said)
	}
	l.says(said, "was not started: too dear", "max_price_kop_h allows 35,00 ₽ per hour")
	for name, now := range l.servers(3) {
		want := "running"
		if name == "spot-1" {
			want = "outbid"
		}
		if now.Status != want || now.ID != before[name].ID {
			l.t.Errorf("above the cap %s is %+v", name, now)
		}
	}
	l.says(l.Run("apply", "-var=on_outbid=keep"), "Check block assertion failed", "Not running: spot-1 (outbid).")
	l.nothingToDo("-var=on_outbid=keep")

	l.market(spot.Offer, 2600)
	l.Run("apply")
	for name, now := range l.servers(3) {
		if now.Status != "running" || now.ID != before[name].ID {
			l.t.Errorf("when the market is down again %s is %+v", name, now)
		}
	}
}

// The addresses are those of the server that runs, and the template is one for notebooks.
func jupyterStory(l *life) {
	for _, own := range acctest.SavedIn[struct {
		Mode string `json:"launch_mode"`
	}](l.Workspace, "gpurent_template") {
		if own.Attributes.Mode != "jupyter" {
			l.t.Errorf("the template's launch mode is %q", own.Attributes.Mode)
		}
	}
	notebook := l.servers(1)["notebook"]
	l.says(l.Run("output", "urls"), `"Port 6006" = "http://`+notebook.SSH.Host+":", `"Port 8888" = "http://`+notebook.SSH.Host+":")
	if said := l.plan(2, "-var=running=false"); !strings.Contains(said, "0 to add, 1 to change, 0 to destroy") {
		l.t.Errorf("to stop it plans:\n%s", said)
	}
}

// Workers come and go without the head, and the head without the workers. What join.sh leaves on the servers lets all
// workers of the moment in, and nobody else.
func rayStory(l *life) {
	before := l.servers(4) // the README has added a worker
	l.Run("apply")
	l.joined(l.servers(3))
	l.says(l.plan(2, "-var=workers=1"), `worker["worker-2"] will be destroyed`, "0 to add, 0 to change, 1 to destroy")
	l.says(l.plan(2, "-var=running=false"), "0 to add, 3 to change, 0 to destroy")

	l.Run("apply", "-replace=gpurent_instance.head")
	after := l.servers(3)
	for name, was := range before {
		if now := after[name]; name != "ray-worker-3" && (now.ID == was.ID) != (name != "ray-head") {
			l.t.Errorf("after another head %s is %+v, was %+v", name, now, was)
		}
	}
	l.joined(after)
	l.market(after["ray-worker-1"].Offer, 3400)
	l.says(l.plan(2), "0 to add, 1 to change, 0 to destroy")
	l.Run("apply")
	l.nothingToDo()
	for _, own := range acctest.SavedIn[struct{ Onstart string }](l.Workspace, "gpurent_template") {
		if script := own.Attributes.Onstart; !strings.Contains(script, "ray start") || strings.Contains(script, strings.TrimSpace(l.Read("ray-token"))) {
			l.t.Errorf("a template runs:\n%s", script)
		}
	}
}

// joined runs join.sh and looks at what it has left on the servers.
func (l *life) joined(servers map[string]server) {
	l.t.Helper()
	l.follow([]block{{language: "sh", text: "./join.sh\n"}})
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
		worker := servers[fmt.Sprintf("ray-worker-%d", n)]
		admitted = append(admitted, fmt.Sprintf(`restrict,tunnel="%d" ssh-ed25519 KEY%d`, n, worker.SSH.Port))
		for file, want := range map[string]string{
			"token": token, "number": strconv.Itoa(n), "known_hosts": fmt.Sprintf("ray-head ssh-ed25519 HOST%d", head.SSH.Port),
			"gate": fmt.Sprintf("%s %d", head.SSH.Host, head.SSH.Port+1), // the simulator's next port is the first of the template's
		} {
			if got := at(worker, file); got != want {
				l.t.Errorf("worker %d has %q in %s, want %q", n, got, file, want)
			}
		}
	}
	if got := at(head, "authorized_keys"); got != strings.Join(admitted, "\n") {
		l.t.Errorf("the head lets in:\n%s\nwant:\n%s", got, strings.Join(admitted, "\n"))
	}
}
