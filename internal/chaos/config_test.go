package chaos

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// serverConfig is the configuration of one server.
type serverConfig struct {
	arguments      map[string]string // HCL expressions by argument; "" leaves the argument out
	idempotencyKey bool
}

// configuration is a whole configuration.
type configuration struct {
	servers    map[string]*serverConfig
	image      string // of the account's template
	apiKey     bool
	maxRetries int
	// shortTimeout makes requests time out before a delayed response arrives.
	shortTimeout bool
}

const maxServers = 4

func newConfiguration(rng *rand.Rand) *configuration {
	c := &configuration{
		servers: map[string]*serverConfig{}, image: "ubuntu:24.04", apiKey: rng.IntN(2) == 0,
		maxRetries: pickOne(rng, 0, 1, 3), shortTimeout: rng.IntN(2) == 0,
	}
	for range 2 {
		c.addServer(rng)
	}
	return c
}

func (c *configuration) addServer(rng *rand.Rand) {
	for n := range maxServers {
		name := fmt.Sprintf("s%d", n)
		if c.servers[name] != nil {
			continue
		}
		c.servers[name] = &serverConfig{idempotencyKey: rng.IntN(2) == 0, arguments: map[string]string{
			"template":    pickOne(rng, `"pytorch"`, `"ubuntu"`, "gpurent_template.own.slug"),
			"disk_gb":     "60",
			"offer_query": pickOne(rng, `{}`, `{ gpu = ["rtx_4090"] }`, `{ order = "dlperf" }`),
			"type":        pickOne(rng, `"on_demand"`, `"interruptible"`),
			"name":        fmt.Sprintf("%q", name),
		}}
		return
	}
}

// change changes the configuration between two applies and returns a description.
func (c *configuration) change(rng *rand.Rand) string {
	names := slices.Sorted(maps.Keys(c.servers))
	action := rng.IntN(12)
	switch {
	case action == 0 || len(names) == 0:
		c.addServer(rng)
		return "add a server"
	case action == 1 && len(names) > 1:
		name := pickOne(rng, names...)
		delete(c.servers, name)
		return "remove " + name
	case action == 2:
		c.image = pickOne(rng, "ubuntu:24.04", "ubuntu:22.04")
		return "template image " + c.image
	case action == 3:
		c.apiKey = !c.apiKey
		return fmt.Sprintf("API key: %t", c.apiKey)
	}
	name := pickOne(rng, names...)
	argument := pickOne(rng, "name", "desired_state", "desired_state", "desired_state", "disk_gb", "on_outbid",
		"offer_query", "ssh_key_ids", "replace_on", "max_price_kop_h")
	value := pickOne(rng, map[string][]string{
		"name":            {`"renamed"`, `"` + name + `"`, ""},
		"desired_state":   {`"running"`, `"stopped"`},
		"disk_gb":         {"60", "70"},
		"on_outbid":       {`"restart"`, `"keep"`, `"replace"`},
		"offer_query":     {`{}`, `{ gpu = ["rtx_4090"] }`, `{ order = "dlperf" }`},
		"ssh_key_ids":     {"", "[]", "[gpurent_ssh_key.own.id]"},
		"replace_on":      {"", `["offer_query"]`},
		"max_price_kop_h": {"", "9000000"},
	}[argument]...)
	c.servers[name].arguments[argument] = value
	return fmt.Sprintf("%s: %s = %s", name, argument, value)
}

// provider returns the provider block.
func (c *configuration) provider(baseURL, apiKey string) string {
	timeout := "5s" // longer than the delay in faults; after a lost response, an apply waits this long
	if c.shortTimeout {
		timeout = "1500ms"
	}
	return fmt.Sprintf(`provider "gpurent" {
  base_url        = %q
  api_key         = %q
  poll_interval   = "1ms"
  max_retries     = %d
  request_timeout = %q
}
`, baseURL, apiKey, c.maxRetries, timeout)
}

const sshKeyBlock = `resource "gpurent_ssh_key" "own" {
  public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIvZ/caG9i1LkxpP/DOSGgV/DtqtAYNUH8fCaTRKD+8+"
}
`

// resources returns the resource blocks.
func (c *configuration) resources() string {
	var text strings.Builder
	fmt.Fprintf(&text, "resource \"gpurent_template\" \"own\" {\n  name = \"Own\"\n  image = %q\n  ports = [8080]\n}\n",
		c.image)
	text.WriteString(sshKeyBlock)
	if c.apiKey {
		text.WriteString("resource \"gpurent_api_key\" \"own\" {\n  name = \"own\"\n  scopes = [\"instances:read\"]\n}\n")
	}
	for _, name := range slices.Sorted(maps.Keys(c.servers)) {
		server := c.servers[name]
		fmt.Fprintf(&text, "resource \"gpurent_instance\" %q {\n", name)
		for _, argument := range slices.Sorted(maps.Keys(server.arguments)) {
			if value := server.arguments[argument]; value != "" {
				fmt.Fprintf(&text, "  %s = %s\n", argument, value)
			}
		}
		if server.idempotencyKey {
			fmt.Fprintf(&text, "  idempotency_key = %q\n", "key-of-"+name)
		}
		text.WriteString("}\n")
	}
	return text.String()
}

func pickOne[T any](rng *rand.Rand, choices ...T) T { return choices[rng.IntN(len(choices))] }
