package instance

import (
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"regexp"
	"strings"
)

// What goes into an SSH configuration file must not be able to say more there than
// it should: no space, quote, pattern, comment or line break passes.
var (
	sshAlias = regexp.MustCompile(`^[A-Za-z0-9_.][A-Za-z0-9_.-]*$`)
	sshUser  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*\$?$`)

	hostLabel = regexp.MustCompile(`^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$`)
	allDigits = regexp.MustCompile(`^[0-9]+$`)
)

const (
	maxHostName = 253
	maxPort     = 1<<16 - 1
)

var errAlias = errors.New("a host alias is letters, digits, dots, underscores and hyphens, and does not begin with a hyphen")

// checkAlias refuses what is no single plain name. It may not begin with a hyphen:
// the ssh command would take it for an option.
func checkAlias(alias string) error {
	if !sshAlias.MatchString(alias) {
		return fmt.Errorf("%.80q is no host alias: %w", alias, errAlias)
	}
	return nil
}

// sshLogin is how to log in to a server.
type sshLogin struct {
	host string
	port *big.Float // nil for none
	user string
}

// check refuses what no server has, whatever the service answered.
func (l sshLogin) check() error {
	switch {
	case !isHost(l.host):
		return fmt.Errorf("host %.80q is neither a host name nor an IP address", l.host)
	case l.port == nil:
		return errors.New("there is no port")
	case !l.port.IsInt() || l.port.Cmp(big.NewFloat(1)) < 0 || l.port.Cmp(big.NewFloat(maxPort)) > 0:
		return fmt.Errorf("port %v is not a whole number from 1 to %d", l.port, maxPort)
	case !sshUser.MatchString(l.user):
		return fmt.Errorf("user %.80q is not a plain user name", l.user)
	}
	return nil
}

// isHost says whether a text is a host name or an IP address without a zone. A name
// whose last part is a number would be a mistaken address.
func isHost(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Zone() == ""
	}
	name := strings.TrimSuffix(host, ".")
	if len(name) > maxHostName {
		return false
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if !hostLabel.MatchString(label) {
			return false
		}
	}
	return !allDigits.MatchString(labels[len(labels)-1])
}

// sshConfigBlock is the block of an SSH configuration file for a checked alias and
// login.
func sshConfigBlock(alias string, l sshLogin) string {
	return fmt.Sprintf("Host %s\n  HostName %s\n  Port %.0f\n  User %s\n", alias, l.host, l.port, l.user)
}

// noSSHConfig stands for the block of a server that has no address, so that the
// blocks of many can be joined.
func noSSHConfig(alias string) string {
	return "# " + alias + ": no SSH address now (stopped, or not assigned yet)\n"
}
