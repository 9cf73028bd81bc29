package simulator_test

import (
	"bufio"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// reached describes what answers at the addresses of an instance: the first line of its SSH server, and the status of
// its page.
func reached(t *testing.T, i simulatedInstance) string {
	t.Helper()
	conn, err := net.DialTimeout("tcp", net.JoinHostPort(i.SSH.Host, strconv.Itoa(i.SSH.Port)), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	banner, _ := bufio.NewReader(conn).ReadString('\n') //nolint:errcheck // empty at the end of the connection
	resp, err := http.Get(i.URLs[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return strings.TrimSpace(banner) + " " + strconv.Itoa(resp.StatusCode)
}

type simulatedInstance struct {
	ID  string
	SSH struct {
		Host string
		Port int
	}
	URLs []struct{ URL string }
}

// With Reachable, the addresses of a running instance answer, until the instance stops or a call blocks them.
func TestServers(t *testing.T) {
	server, err := simulator.Start(t.Context(), simulator.Config{
		Clock: simulator.ClockManual, Market: simulator.MarketStill, Reachable: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	r := &rig{Simulator: server.Simulator, t: t, key: server.APIKey, header: http.Header{}}
	id := r.running("k", m{"template": "pytorch"}).ID
	var i simulatedInstance
	r.do("GET", "/instances/"+id, nil).want(200).into(&i)
	patch := func(field string, value bool) {
		r.control("PATCH", "/instances/"+id, m{field: value}).want(200)
	}
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, "SSH-2.0-simulator 200"},
		{func() { patch("ssh_reachable", false) }, " 200"},
		{func() { patch("ssh_reachable", true); patch("urls_reachable", false) }, "SSH-2.0-simulator 503"},
		{func() { r.do("POST", "/instances/"+id+"/stop", nil).want(200); r.Advance(time.Hour) }, " 503"},
	} {
		step.do()
		if got := reached(t, i); got != step.want {
			t.Errorf("got %q, want %q", got, step.want)
		}
	}
}

// The log has the onstart command of the template after the first start, and the lines that a call adds.
func TestLog_Onstart(t *testing.T) {
	r := newRig(t)
	body := m{"name": "job", "image": "job:1", "onstart": "prepare\necho READY"}
	slug := r.do("POST", "/templates", body).want(201).slug()
	id := r.running("k", m{"template": slug}).ID
	r.control("PATCH", "/instances/"+id, m{"log_line": "epoch 1"}).want(200)
	var log struct{ Lines []string }
	r.do("GET", "/instances/"+id+"/logs", nil).want(200).into(&log)
	text := strings.Join(log.Lines, "\n") + "\n"
	for _, want := range []string{" + prepare\n", " + echo READY\n", "\nepoch 1\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the log:\n%s", want, text)
		}
	}
}

func (a response) slug() string {
	var template struct{ Slug string }
	a.into(&template)
	return template.Slug
}
