package handbook_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// setPrice sets the interruptible price of an offer.
func (l *exampleRun) setPrice(offer string, kopH int64) {
	l.t.Helper()
	if err := l.env.SetOffer(offer, simulator.OfferPatch{InterruptibleKopH: &kopH}); err != nil {
		l.t.Fatal(err)
	}
}

// A cheaper offer does not replace the server, and an apply with a lost state recovers the same server.
func singleStory(l *exampleRun) {
	before := l.servers(1)["single"]
	cheap := int64(1)
	if err := l.env.SetOffer(
		l.env.CheapestOffer("rtx_4090", "on_demand").ID,
		simulator.OfferPatch{OnDemandKopH: &cheap},
	); err != nil {
		l.t.Fatal(err)
	}
	l.expectNoChanges()
	l.Run("state", "rm", "gpurent_instance.server")
	l.Run("apply")
	if after := l.servers(1)["single"]; after.ID != before.ID || after.Status != "running" {
		l.t.Errorf("the server is %+v, was %+v", after, before)
	}
	if asked, err := os.ReadFile(
		filepath.Join(l.home, "asked"),
	); err != nil ||
		string(asked) != fmt.Sprintf("-p %d root@%s\n", before.SSH.Port, before.SSH.Host) {
		l.t.Errorf("ssh was called with %q, want the server at port %d (%v)", asked, before.SSH.Port, err)
	}
}

// The job starts on both servers. If no H100 is available for a new server, the fallback is rented.
func capacityStory(l *exampleRun) {
	jobs := func() int {
		asked, err := os.ReadFile(filepath.Join(l.home, "asked"))
		if err != nil {
			l.t.Error(err)
		}
		return strings.Count(string(asked), "torchrun")
	}
	before := l.servers(2)
	if n := jobs(); n != 2 {
		l.t.Errorf("%d jobs were started, want 2", n)
	}
	l.env.Delete("instances/" + before["node-0"].ID)
	for _, offer := range l.env.Offers("gpu=h100_sxm&num_gpus=8") {
		if err := l.env.SetOffer(offer.ID, simulator.OfferPatch{Available: new(false)}); err != nil {
			l.t.Fatal(err)
		}
	}
	l.Run("apply")
	after := l.servers(2)
	if after["node-0"].GPU.Slug != "a100_sxm4_80gb" || after["node-1"].ID != before["node-1"].ID || jobs() != 3 {
		l.t.Errorf("the servers are %+v, and %d jobs were started", after, jobs())
	}
}

// A plan stops one server only, and an apply replaces only the server that was destroyed outside Terraform.
func teamStory(l *exampleRun) {
	before := l.servers(2)
	l.expectWords(l.plan(2, `-var=stopped=["trainer-2"]`), "0 to add, 1 to change, 0 to destroy")
	l.expectWords(
		l.plan(2, "-var=servers=3"),
		`server["trainer-3"] will be created`,
		"1 to add, 0 to change, 0 to destroy",
	)
	if output, err := l.Try("plan", `-var=stopped=["trainer-3"]`); err == nil {
		l.t.Errorf("a server that is not there was stopped:\n%s", output)
	}
	l.env.Delete("instances/" + before["trainer-1"].ID)
	l.Run("apply")
	after := l.servers(2)
	if after["trainer-2"].ID != before["trainer-2"].ID || after["trainer-1"].ID == before["trainer-1"].ID {
		l.t.Errorf("the servers are %+v, were %+v", after, before)
	}
}

// After an outbid within the cap, the next apply bids again. Above the cap, the apply warns with the reason and leaves
// all servers unchanged.
func spotFleetStory(l *exampleRun) {
	l.expectNoChanges()
	before := l.members(3)
	spot := before["spot-0"]
	l.setPrice(spot.Offer, 3000)
	l.expectWords(l.plan(2), "slot 0: outbid, is started", "0 to add, 1 to change, 0 to destroy")
	l.Run("apply")
	if now := l.members(3)["spot-0"]; now.ID != spot.ID || now.Status != "running" {
		l.t.Errorf("after a bid within the cap: %+v", now)
	}
	l.expectNoChanges()

	l.setPrice(spot.Offer, 9500)
	l.expectWords(l.Run("apply"), "Fleet spot is not complete", "costs 95,00 ₽ per hour", "it was not started")
	for name, now := range l.members(3) {
		want := "running"
		if name == "spot-0" {
			want = "outbid"
		}
		if now.Status != want || now.ID != before[name].ID {
			l.t.Errorf("above the cap %s is %+v", name, now)
		}
	}
	l.expectWords(l.Run("apply", "-var=on_outbid=keep"), "Check block assertion failed", "Not running: spot-0 (outbid).")
	l.expectNoChanges("-var=on_outbid=keep")

	l.setPrice(spot.Offer, 2600)
	l.Run("apply")
	for name, now := range l.members(3) {
		if now.Status != "running" || now.ID != before[name].ID {
			l.t.Errorf("when the market is down again %s is %+v", name, now)
		}
	}
}

// The outputs have the addresses of the running server, and the template has the launch mode jupyter.
func jupyterStory(l *exampleRun) {
	for _, own := range acctest.SavedIn[struct {
		Mode string `json:"launch_mode"`
	}](l.Workspace, "gpurent_template") {
		if own.Attributes.Mode != "jupyter" {
			l.t.Errorf("the template's launch mode is %q", own.Attributes.Mode)
		}
	}
	notebook := l.servers(1)["notebook"]
	l.expectWords(
		l.Run("output", "urls"),
		`"Port 6006" = "http://`+notebook.SSH.Host+":",
		`"Port 8888" = "http://`+notebook.SSH.Host+":",
	)
	if output := l.plan(2, "-var=running=false"); !strings.Contains(output, "0 to add, 1 to change, 0 to destroy") {
		l.t.Errorf("to stop it plans:\n%s", output)
	}
}
