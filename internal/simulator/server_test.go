package simulator_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func TestServer(t *testing.T) {
	srv := start(t, simulator.Config{Clock: simulator.ClockReal, TimeScale: 1000, Boot: time.Second})
	if !strings.HasSuffix(srv.BaseURL, "/api/v1") || !strings.HasSuffix(srv.ControlURL, "/control") ||
		len(srv.APIKey) != 44 {
		t.Errorf("server %s %s", srv.BaseURL, srv.ControlURL)
	}
	if status, err := fetch(t.Context(), srv, "/me"); err != nil || status != 200 {
		t.Errorf("%d %v", status, err)
	}
	before := srv.Now()
	if after := srv.Advance(time.Hour); after.Sub(before) < time.Hour {
		t.Errorf("the real clock advanced by %v", after.Sub(before))
	}
	address := strings.TrimSuffix(strings.TrimPrefix(srv.BaseURL, "http://"), "/api/v1")
	if _, err := simulator.Start(t.Context(), simulator.Config{Listen: address}); err == nil {
		t.Error("two simulators on one address")
	}
}

// By default the network cannot reach the simulator. Otherwise it logs a warning.
func TestServer_ListensOnLoopbackByDefault(t *testing.T) {
	for listen, open := range map[string]bool{"": false, "127.0.0.1:0": false, "localhost:0": false, "0.0.0.0:0": true,
		":0": true} {
		var log bytes.Buffer
		srv := start(t, simulator.Config{Listen: listen, Log: hclog.New(&hclog.LoggerOptions{Output: &log})})
		if !strings.HasPrefix(srv.BaseURL, "http://127.0.0.1:") {
			t.Errorf("%q: %s", listen, srv.BaseURL)
		}
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		if warned := strings.Contains(log.String(), "[WARN]") &&
			strings.Contains(log.String(), "network"); warned != open {
			t.Errorf("%q: warned %t, want %t:\n%s", listen, warned, open, &log)
		}
		if strings.Contains(log.String(), srv.APIKey) {
			t.Errorf("the API key is in the log:\n%s", &log)
		}
	}
}

// With Reachable, the addresses of a running instance answer. The page of a stopped one returns 503.
func TestServer_ReachableInstances(t *testing.T) {
	srv := start(t, simulator.Config{Clock: simulator.ClockManual, Market: simulator.MarketStill, Reachable: true})
	api := clientOf(t, srv.Simulator, srv.APIKey)
	i := api.runningInstance(object{"template": "pytorch", "disk_gb": 50})
	for _, want := range []string{"200", "503"} {
		conn, err := net.DialTimeout("tcp", fmt.Sprintf("%s:%d", i.text("ssh.host"), i.integer("ssh.port")), time.Second)
		if err != nil {
			t.Fatal(err)
		}
		banner, err := bufio.NewReader(conn).ReadString('\n')
		if err = errors.Join(err, conn.Close()); err != nil || banner != "SSH-2.0-simulator\r\n" {
			t.Errorf("the SSH server sends %q, %v", banner, err)
		}
		resp, err := http.Get(i.objects("urls")[0].text("url"))
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil || !strings.HasPrefix(resp.Status, want) {
			t.Errorf("the page answers %s, %v, want %s", resp.Status, err, want)
		}
		api.setInstance(i.text("id"), object{"status": "stopped"})
	}
}

// After a restart with the same state file, the simulator and its instances have the same addresses.
func TestServer_KeepsItsPorts(t *testing.T) {
	config := simulator.Config{
		State: filepath.Join(t.TempDir(), "state.json"), Clock: simulator.ClockManual, Market: simulator.MarketStill,
		Reachable: true,
	}
	var addresses []string
	for range 2 {
		srv, err := simulator.Start(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		api := clientOf(t, srv.Simulator, srv.APIKey)
		if len(addresses) == 0 {
			api.runningInstance(object{"template": "pytorch", "disk_gb": 50})
		}
		i := api.list("/instances")[0]
		addresses = append(addresses, srv.BaseURL+i.text("ssh.command")+i.objects("urls")[0].text("url"))
		if err := srv.Close(); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "addresses", addresses[1], addresses[0])
}

func TestConfig_Step(t *testing.T) {
	api := newClient(t, func(c *simulator.Config) { c.Step = time.Second })
	i := api.createInstance(nil)
	polls := 0
	for i["ssh"] == nil && polls < 20 {
		i = api.instance(i.text("id"))
		polls++
	}
	equal(t, "polls of one second until ready", polls, 12)
}

// Config.Boot documents the time to running, and 20% more to the SSH address.
func TestConfig_Boot(t *testing.T) {
	api := newClient(t)
	i := api.createInstance(object{"template": "pytorch", "disk_gb": 50})
	id, created := i.text("id"), i.time("created_at")
	for _, want := range []struct {
		percent int // of the boot time, since creation
		status  string
		ssh     bool
	}{
		{0, "creating", false}, {29, "creating", false}, {30, "starting", false}, {99, "starting", false},
		{100, "running", false}, {119, "running", false}, {120, "running", true},
	} {
		api.Advance(created.Add(boot * time.Duration(want.percent) / 100).Sub(api.Now()))
		got, when := api.instance(id), fmt.Sprintf("after %d%%: ", want.percent)
		equal(t, when+"status", got.text("status"), want.status)
		equal(t, when+"has SSH", got["ssh"] != nil, want.ssh)
		equal(t, when+"has a web address", got.objects("urls")[0]["url"] != nil, want.ssh)
	}
	equal(t, "time from creation to start", api.instance(id).time("started_at").Sub(created), boot)
}

// The log has the onstart command of the template after the first start.
func TestLog_Onstart(t *testing.T) {
	api := newClient(t)
	template := api.post("/templates", object{"name": "job", "image": "job:1", "onstart": "prepare\necho READY"}).created()
	id := api.runningInstance(object{"template": template["slug"]}).text("id")
	log := string(api.get("/instances/" + id + "/logs").want(200).body)
	for _, want := range []string{` + prepare"`, ` + echo READY"`} {
		check(t, strings.Contains(log, want), "no %q in the log:\n%s", want, log)
	}
}
