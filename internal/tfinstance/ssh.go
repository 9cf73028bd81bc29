package tfinstance

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Users paste the command into a shell and the block into a file. Neither may contain anything but a login, even if the
// API returns a space, quote, pattern, comment or line break.
var (
	sshAlias  = regexp.MustCompile(`^[A-Za-z0-9_.][A-Za-z0-9_.-]*$`)
	sshUser   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*\$?$`)
	hostLabel = regexp.MustCompile(`^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$`)
	allDigits = regexp.MustCompile(`^[0-9]+$`)

	// forwards are options that connect a port of the user's machine to one of the instance.
	forwards = regexp.MustCompile(` -L [0-9]{1,5}:(?:localhost|127\.0\.0\.1):[0-9]{1,5}`)
)

const (
	maxHostName = 253
	maxPort     = 1<<16 - 1
)

var errAlias = errors.New("it must consist of the letters a to z and A to Z, digits, dots, underscores and hyphens, " +
	"and must not begin with a hyphen")

// CheckAlias returns an error for an alias that is a pattern, or that the ssh command would parse as an option.
func CheckAlias(alias string) error {
	if !sshAlias.MatchString(alias) {
		return fmt.Errorf("%.80q is not a host alias: %w", alias, errAlias)
	}
	return nil
}

// checkLogin returns an error for an invalid login.
func checkLogin(host string, port int64, user string) error {
	switch {
	case !isHost(host):
		return fmt.Errorf("host %.80q is neither a host name nor an IP address", host)
	case port < 1 || port > maxPort:
		return fmt.Errorf("port %d is not between 1 and %d", port, maxPort)
	case !sshUser.MatchString(user):
		return fmt.Errorf("user %.80q is not a plain user name", user)
	}
	return nil
}

// isHost reports whether a text is a host name or an IP address without a zone. A name whose last label is a number
// would be an invalid address.
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

// SSHCommand returns the command of the API if it only logs in and forwards ports, otherwise a generated one. It is
// null for an invalid login.
func SSHCommand(ssh rental.SSH) types.String {
	if checkLogin(ssh.Host, ssh.Port, ssh.User) != nil || strings.HasSuffix(ssh.User, "$") {
		return types.StringNull()
	}
	login, port := ssh.User+"@"+ssh.Host, fmt.Sprintf(" -p %d", ssh.Port)
	own := "ssh" + port + " " + login
	switch forwards.ReplaceAllString(ssh.Command, "") {
	case own, "ssh " + login + port:
		return types.StringValue(ssh.Command)
	}
	return types.StringValue(own)
}

// SSHConfigBlock returns the block of an SSH configuration file, or an error for an invalid login.
func SSHConfigBlock(alias, host string, port int64, user string) (string, error) {
	if err := checkLogin(host, port, user); err != nil {
		return "", err
	}
	return fmt.Sprintf("Host %s\n  HostName %s\n  Port %d\n  User %s\n", alias, host, port, user), nil
}

// NoSSHConfig is a comment in place of the block of an instance without an address, so that the blocks of many
// instances can be joined.
func NoSSHConfig(alias string) string {
	return "# " + alias + ": no SSH address now (stopped, or not assigned yet)\n"
}
