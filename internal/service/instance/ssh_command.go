package instance

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// forwarding is what ssh may be told beside the login: a port of this machine that leads to one of the server.
var forwarding = regexp.MustCompile(`^[0-9]{1,5}:(?:localhost|127\.0\.0\.1):[0-9]{1,5}$`)

// sshCommand is the command that the service has for a login. People paste it, and scripts run it: one that could do anything but log in
// there is replaced by our own. It is null where the login itself is none.
func sshCommand(ssh rental.SSH) types.String {
	login := sshLogin{host: ssh.Host, port: new(big.Float).SetInt64(ssh.Port), user: ssh.User}
	if login.check() != nil || strings.HasSuffix(ssh.User, "$") {
		return types.StringNull()
	}
	if onlyLogsIn(ssh) {
		return types.StringValue(ssh.Command)
	}
	return types.StringValue(fmt.Sprintf("ssh -p %d %s@%s", ssh.Port, ssh.User, ssh.Host))
}

func onlyLogsIn(ssh rental.SSH) bool {
	words := strings.Split(ssh.Command, " ")
	logins := 0
	for i := 1; i < len(words); i++ {
		value := ""
		if i+1 < len(words) {
			value = words[i+1]
		}
		switch {
		case words[i] == ssh.User+"@"+ssh.Host:
			logins++
		case words[i] == "-p" && value == fmt.Sprint(ssh.Port), words[i] == "-L" && forwarding.MatchString(value):
			i++
		default:
			return false
		}
	}
	return words[0] == "ssh" && logins == 1
}
