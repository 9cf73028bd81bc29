package cli

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-isatty"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

const (
	// maxShown is how much of a short text of the service is shown, in characters.
	maxShown = 200
	// maxAddress is the length of an address that a person can still be sent to.
	maxAddress = 1000
)

// Bounds of what a service may ask for. A login that says nothing lasts as long, and is
// polled as often, as the API document says.
const (
	usualInterval, longestInterval = 5 * time.Second, time.Minute
	usualLifetime, longestLifetime = 10 * time.Minute, time.Hour
)

// question is what a person is asked to approve, fit to be shown.
type question struct {
	address, code string
	lasts         time.Duration // until the code expires
	interval      time.Duration // between polls
}

var errNoQuestion = errors.New("the service names no approval page and code for the login, or a page that must not be opened: " +
	"it has to be https, and on this machine only if the service is: is the address that of the service?")

// newQuestion takes from the service's answer what is safe to show and to do. It ignores verification_uri_complete: the
// address that is shown is the one that the browser opens, and other users of the machine see what a browser is started with.
func newQuestion(code rental.DeviceCode, baseURL string) (question, error) {
	q := question{
		address: page(code.VerificationURI, baseURL), code: rental.Printable(code.UserCode, maxShown),
		lasts:    bounded(code.ExpiresIn, usualLifetime, longestLifetime),
		interval: bounded(code.Interval, usualInterval, longestInterval),
	}
	if q.address == "" || q.code == "" {
		return question{}, errNoQuestion
	}
	return q, nil
}

// opens returns the address for the user's browser; empty for an address with the code in it.
func (q question) opens() string {
	if strings.Contains(q.address, q.code) {
		return ""
	}
	return q.address
}

// bounded is a number of seconds as a duration up to longest; usual where it is none.
func bounded(seconds int64, usual, longest time.Duration) time.Duration {
	if seconds <= 0 {
		return usual
	}
	return time.Duration(min(seconds, int64(longest/time.Second))) * time.Second
}

// harmless is an address that no shell, no terminal and no desktop can misread.
var harmless = regexp.MustCompile(`^https?://[A-Za-z0-9\-._~:/?#\[\]@%=&+,]+$`)

// page is an address that a person may be sent to, or empty: then raw is not one. It may be on another host than the
// service, but not on this machine, where other programs listen, unless the service is.
func page(raw, baseURL string) string {
	u, err := url.Parse(raw)
	if err != nil || len(raw) > maxAddress || !harmless.MatchString(raw) || u.User != nil || u.Hostname() == "" {
		return ""
	}
	service, err := url.Parse(baseURL)
	if err != nil || opensHere(u.Hostname()) && !rental.IsLoopback(service.Hostname()) {
		return ""
	}
	if u.Scheme == "http" && !rental.IsLoopback(u.Hostname()) {
		return ""
	}
	return raw
}

// opensHere reports whether a browser may look for a host on this machine. Browsers read a name whose last part is a
// number, such as 127.1 or 2130706433, as an IPv4 address.
func opensHere(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if address, err := netip.ParseAddr(host); err == nil {
		return address.Unmap().IsLoopback() || address.Unmap().IsUnspecified()
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last == "" || last == "localhost" || last[0] >= '0' && last[0] <= '9'
}

// screen is where a person, or a log, follows a login.
type screen struct {
	out, problems io.Writer
	terminal      bool // out is one
}

func newScreen(out, problems io.Writer) *screen {
	file, ok := out.(*os.File)
	return &screen{out: out, problems: problems, terminal: ok && os.Getenv("TERM") != "dumb" && isTerminal(file)}
}

func isTerminal(file *os.File) bool {
	return isatty.IsTerminal(file.Fd()) || isatty.IsCygwinTerminal(file.Fd())
}

func (s *screen) say(format string, values ...any) { fmt.Fprintf(s.out, format+"\n", values...) }

func (s *screen) warn(format string, values ...any) {
	fmt.Fprintf(s.problems, "Warning: "+format+"\n", values...)
}

// ask shows what is to be approved: on one line where nobody looks at a screen.
func (s *screen) ask(q question) {
	if !s.terminal {
		s.say("Open %s in a browser and approve the code %s within %s.", q.address, q.code, inWords(q.lasts))
		return
	}
	s.say("Approve this login in a browser, on any machine:\n\n  Address  %s\n  Code     %s\n", q.address, q.code)
}

// inWords is a time in whole minutes, or in seconds where those are few.
func inWords(d time.Duration) string {
	if d < 2*time.Minute {
		return fmt.Sprintf("%d seconds", int(d.Seconds()))
	}
	return fmt.Sprintf("%d minutes", int(d.Minutes()))
}

// countdown shows on one line of a terminal how much time is left, until it is
// stopped: then the line is gone.
func (s *screen) countdown(until time.Time) (stop func()) {
	if !s.terminal {
		return func() {}
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			left := int(max(time.Until(until), 0).Round(time.Second).Seconds())
			line := fmt.Sprintf("Waiting for approval… %d:%02d left", left/60, left%60)
			// The blanks cover a longer line before this one, and the ^C of a terminal.
			fmt.Fprintf(s.out, "\r%s  ", line)
			select {
			case <-end:
				fmt.Fprintf(s.out, "\r%s\r", strings.Repeat(" ", utf8.RuneCountInString(line)+4))
				return
			case <-tick.C:
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}
