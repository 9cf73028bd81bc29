package simulator_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func TestServer(t *testing.T) {
	srv := start(t, simulator.Config{Clock: simulator.ClockReal, TimeScale: 1000})
	root, isAPI := strings.CutSuffix(srv.BaseURL, "/api/v1")
	check(t, isAPI && srv.ControlURL == root+"/control" && len(srv.APIKey) == 44, "server %+v", srv)
	equal(t, "status", fetch(t, srv.BaseURL+"/gpus"), 200)
	before := srv.Now()
	after := srv.Advance(time.Hour)
	check(t, after.Sub(before) >= time.Hour, "the real clock advanced by %v", after.Sub(before))
	_, err := simulator.Start(t.Context(), simulator.Config{Listen: strings.TrimPrefix(root, "http://")})
	check(t, err != nil, "two simulators on one address")
}

// By default the network cannot reach the simulator. Otherwise it logs a warning.
func TestServer_ListensOnLoopbackByDefault(t *testing.T) {
	for listen, open := range map[string]bool{"": false, "127.0.0.1:0": false, "localhost:0": false, "0.0.0.0:0": true,
		":0": true} {
		var log bytes.Buffer
		srv := start(t, simulator.Config{Listen: listen, Log: hclog.New(&hclog.LoggerOptions{Output: &log})})
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		check(t, strings.HasPrefix(srv.BaseURL, "http://127.0.0.1:"), "%q: %s", listen, srv.BaseURL)
		warned := strings.Contains(log.String(), "[WARN]") && strings.Contains(log.String(), "network")
		check(t, warned == open && !strings.Contains(log.String(), srv.APIKey), "%q: the log is %s", listen, &log)
	}
}

// With Reachable, the addresses of a running instance answer; the page of a stopped one returns 503. After a restart
// with the same state file, the simulator and its instances have the same addresses, if these are still free.
func TestServer_ReachableInstances(t *testing.T) {
	config := simulator.Config{Clock: simulator.ClockManual, Market: simulator.MarketStill, Reachable: true,
		State: filepath.Join(t.TempDir(), "state.json")}
	previous := ""
	for restarts := range 5 {
		srv := start(t, config)
		api := clientOf(t, srv.Simulator, srv.APIKey)
		if restarts == 0 {
			api.runningInstance(object{"template": "pytorch", "disk_gb": 50})
		}
		i := api.list("/instances")[0]
		ssh := net.JoinHostPort(i.text("ssh.host"), fmt.Sprint(i.integer("ssh.port")))
		page := i.objects("urls")[0].text("url")
		conn, err := net.Dial("tcp", ssh)
		if err != nil {
			t.Fatal(err)
		}
		banner, err := bufio.NewReader(conn).ReadString('\n')
		check(t, errors.Join(err, conn.Close()) == nil && banner == "SSH-2.0-simulator\r\n", "SSH: %q, %v", banner, err)
		equal(t, "status of the page", fetch(t, page), 200)
		api.setInstance(i.text("id"), object{"status": "stopped"})
		equal(t, "status of the page of a stopped instance", fetch(t, page), 503)
		api.setInstance(i.text("id"), object{"status": "running"})
		if srv.BaseURL+ssh+page == previous {
			return
		}
		previous = srv.BaseURL + ssh + page
		if err := srv.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Error("each restart changes the addresses")
}

func TestConfig_Step(t *testing.T) {
	api := newClient(t, func(c *simulator.Config) { c.Step = time.Second })
	i := api.createInstance(nil)
	polls := 0
	for ; i["ssh"] == nil && polls < 20; polls++ {
		i = api.instance(i.text("id"))
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
