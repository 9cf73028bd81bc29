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

	"github.com/mattn/go-isatty"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

const (
	// maxTextLength limits short texts of the service on the screen, in characters.
	maxTextLength = 200
	// maxAddressLength limits the address of the approval page, in bytes.
	maxAddressLength = 1000
)

// Defaults of the API document, and upper bounds, for the poll interval and the lifetime of a login.
const (
	defaultInterval, maxInterval = 5 * time.Second, time.Minute
	defaultLifetime, maxLifetime = 10 * time.Minute, time.Hour
)

// prompt is the address and the code that the user approves. Both are safe to print.
type prompt struct {
	address, code string
	lifetime      time.Duration // of the code
	interval      time.Duration // between polls
}

var errInvalidPrompt = errors.New("the service returned no code, or no approval page that is safe to open. " +
	"The page must use https, and can be on this machine only if the service is: check the address of the service")

// newPrompt validates a response of the service. It ignores verification_uri_complete, which contains the code: other
// users of the machine can read the arguments of the browser, and the browser opens the address on the screen.
func newPrompt(code rental.DeviceCode, baseURL string) (prompt, error) {
	p := prompt{
		address: pageAddress(code.VerificationURI, baseURL), code: rental.Printable(code.UserCode, maxTextLength),
		lifetime: boundedSeconds(code.ExpiresIn, defaultLifetime, maxLifetime),
		interval: boundedSeconds(code.Interval, defaultInterval, maxInterval),
	}
	if p.address == "" || p.code == "" {
		return prompt{}, errInvalidPrompt
	}
	return p, nil
}

// browserAddress returns the address for the browser of the user; empty if the address contains the code.
func (p prompt) browserAddress() string {
	if strings.Contains(p.address, p.code) {
		return ""
	}
	return p.address
}

// boundedSeconds converts seconds to a duration of at most upper, and a number below 1 to fallback.
func boundedSeconds(seconds int64, fallback, upper time.Duration) time.Duration {
	if seconds <= 0 {
		return fallback
	}
	return time.Duration(min(seconds, int64(upper/time.Second))) * time.Second
}

// safeAddress matches addresses without characters that are special to a shell, a terminal or a desktop.
var safeAddress = regexp.MustCompile(`^https?://[A-Za-z0-9\-._~:/?#\[\]@%=&+,]+$`)

// pageAddress returns raw if it is a safe address of an approval page, else an empty string. The page may be on another
// host than the service. It may be on this machine, where other programs listen, only if the service is.
func pageAddress(raw, baseURL string) string {
	u, err := url.Parse(raw)
	if err != nil || len(raw) > maxAddressLength || !safeAddress.MatchString(raw) || u.User != nil || u.Hostname() == "" {
		return ""
	}
	service, err := url.Parse(baseURL)
	if err != nil || isLocalHost(u.Hostname()) && !rental.IsLoopback(service.Hostname()) {
		return ""
	}
	if u.Scheme == "http" && !rental.IsLoopback(u.Hostname()) {
		return ""
	}
	return raw
}

// isLocalHost reports whether a browser may resolve host to this machine. Browsers parse a name whose last label is a
// number, such as 127.1 or 2130706433, as an IPv4 address.
func isLocalHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if address, err := netip.ParseAddr(host); err == nil {
		return address.Unmap().IsLoopback() || address.Unmap().IsUnspecified()
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last == "" || last == "localhost" || last[0] >= '0' && last[0] <= '9'
}

// screen prints the progress of a command to a terminal or a log.
type screen struct {
	stdout, stderr io.Writer
	terminal       bool // stdout is a terminal
}

func newScreen(stdout, stderr io.Writer) *screen {
	file, ok := stdout.(*os.File)
	return &screen{stdout: stdout, stderr: stderr, terminal: ok && os.Getenv("TERM") != "dumb" && isTerminal(file)}
}

func isTerminal(file *os.File) bool {
	return isatty.IsTerminal(file.Fd()) || isatty.IsCygwinTerminal(file.Fd())
}

func (s *screen) print(format string, values ...any) { fmt.Fprintf(s.stdout, format+"\n", values...) }

func (s *screen) warn(format string, values ...any) {
	fmt.Fprintf(s.stderr, "Warning: "+format+"\n", values...)
}

// showPrompt prints the address and the code.
func (s *screen) showPrompt(p prompt) {
	s.print("Open %s in a browser and approve the code %s within %s.", p.address, p.code, p.lifetime)
}
