package acctest

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// serviceTimeout limits the wait for requests in progress.
const serviceTimeout = 30 * time.Second

// listening is the state of the service's own socket in /proc/net/tcp.
const listening = "0A"

// open are the states of connections that the service has not closed: ESTABLISHED, SYN_RECV and CLOSE_WAIT.
var open = []string{"01", "03", "08"}

// WaitForService waits until the service has processed every request of processes that have ended, including those that
// they have given up: it has then closed their connections, which the kernel lists.
func (e *Env) WaitForService() {
	e.t.Helper()
	base, err := url.Parse(e.BaseURL)
	if err != nil {
		e.t.Fatal(err)
	}
	var port int
	if _, err := fmt.Sscan(base.Port(), &port); err != nil {
		e.t.Fatal(err)
	}
	local := fmt.Sprintf(":%04X", port)
	for deadline := time.Now().Add(serviceTimeout); ; time.Sleep(20 * time.Millisecond) {
		content, err := os.ReadFile("/proc/net/tcp")
		if err != nil {
			e.t.Fatal(err)
		}
		listens, isOpen := false, false
		for line := range strings.Lines(string(content)) {
			if fields := strings.Fields(line); len(fields) > 3 && strings.HasSuffix(fields[1], local) {
				listens = listens || fields[3] == listening
				isOpen = isOpen || slices.Contains(open, fields[3])
			}
		}
		switch {
		case listens && !isOpen:
			return
		case time.Now().After(deadline):
			e.t.Fatal("the service did not close its connections")
		}
	}
}
