package chaos

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// serverConfig is the configuration of one server.
type serverConfig struct {
	arguments      map[string]string // HCL expressions by argument; "" leaves the argument out
	idempotencyKey bool
}

// configuration is a whole configuration. With kills it has only the fleet, with idempotency_prefix, because a kill can
// lose everything that has no chosen idempotency key.
type configuration struct {
	kills      bool
	servers    map[string]*serverConfig
	fleet      map[string]string // HCL expressions by argument; "" leaves the argument out
	image      string            // of the account's template
	apiKey     bool
	maxRetries int
	// shortTimeout makes requests time out before a delayed response arrives.
	shortTimeout bool
}

const maxServers = 4

func newConfiguration(rng *rand.Rand) *configuration {
	c := &configuration{
		kills: canKill && rng.IntN(2) == 0, servers: map[string]*serverConfig{}, image: "ubuntu:24.04",
		apiKey: rng.IntN(2) == 0, maxRetries: pickOne(rng, 0, 1, 3), shortTimeout: rng.IntN(2) == 0,
	}
	c.fleet = map[string]string{
		"name": `"` + fleetName + `"`, "size": pickOne(rng, "1", "2", "4"), "disk_gb": "60",
		"template": pickOne(rng, `"pytorch"`, `"ubuntu"`), "type": pickOne(rng, `"on_demand"`, `"interruptible"`),
		"offer_queries": pickOne(rng, `[{}]`, `[{ gpu = ["rtx_4090"] }, {}]`),
	}
	if c.kills {
		c.maxRetries = 3 // else most of the applies end before the kill
		return c
	}
	for range 2 {
		c.addServer(rng)
	}
	return c
}

// fleetName is the name of the fleet.
const fleetName = "fleet"

// changeFleet changes the fleet between two applies and returns a description.
func (c *configuration) changeFleet(rng *rand.Rand) string {
	argument := pickOne(rng, "size", "size", "size", "on_outbid", "desired_state", "allocation")
	c.fleet[argument] = pickOne(rng, map[string][]string{
		"size":          {"0", "1", "2", "3", "4"},
		"on_outbid":     {`"restart"`, `"keep"`, `"replace"`},
		"desired_state": {`"running"`, `"stopped"`},
		"allocation":    {`"any"`, `"all"`},
	}[argument]...)
	return fmt.Sprintf("%s: %s = %s", fleetName, argument, c.fleet[argument])
}

// size returns the size of the fleet.
func (c *configuration) size() (n int) {
	n, _ = strconv.Atoi(c.fleet["size"]) //nolint:errcheck // it is a number
	return n
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
	switch {
	case c.kills: // mostly while it creates and destroys members
		c.fleet["size"] = pickOne(rng, "0", "1", "2", "3", "4")
		return "size = " + c.fleet["size"] + ", " + c.changeFleet(rng)
	case rng.IntN(3) == 0:
		return c.changeFleet(rng)
	}
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
	timeout := "2s" // longer than the delay in faults; after a lost response, an apply waits this long
	if c.shortTimeout {
		timeout = "600ms"
	}
	prefix := ""
	if c.kills { // else nothing finds what a killed creation of a fleet has rented
		prefix = `idempotency_prefix = "chaos"`
	}
	return fmt.Sprintf(`provider "gpurent" {
  base_url        = %q
  api_key         = %q
  poll_interval   = "1ms"
  max_retries     = %d
  request_timeout = %q
  %s
}
`, baseURL, apiKey, c.maxRetries, timeout, prefix)
}

const sshKeyBlock = `resource "gpurent_ssh_key" "own" {
  public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIvZ/caG9i1LkxpP/DOSGgV/DtqtAYNUH8fCaTRKD+8+"
}
`

// resources returns the resource blocks.
func (c *configuration) resources() string {
	var text strings.Builder
	writeBlock(&text, "gpurent_fleet", "own", c.fleet)
	if c.kills {
		return text.String()
	}
	fmt.Fprintf(&text, "resource \"gpurent_template\" \"own\" {\n  name = \"Own\"\n  image = %q\n  ports = [8080]\n}\n",
		c.image)
	text.WriteString(sshKeyBlock)
	if c.apiKey {
		text.WriteString("resource \"gpurent_api_key\" \"own\" {\n  name = \"own\"\n  scopes = [\"instances:read\"]\n}\n")
	}
	for _, name := range slices.Sorted(maps.Keys(c.servers)) {
		server := c.servers[name]
		arguments := maps.Clone(server.arguments)
		if server.idempotencyKey {
			arguments["idempotency_key"] = strconv.Quote("key-of-" + name)
		}
		writeBlock(&text, "gpurent_instance", name, arguments)
	}
	return text.String()
}

// writeBlock writes a resource block with the arguments that are not empty.
func writeBlock(text *strings.Builder, kind, name string, arguments map[string]string) {
	fmt.Fprintf(text, "resource %q %q {\n", kind, name)
	for _, argument := range slices.Sorted(maps.Keys(arguments)) {
		if value := arguments[argument]; value != "" {
			fmt.Fprintf(text, "  %s = %s\n", argument, value)
		}
	}
	text.WriteString("}\n")
}

func pickOne[T any](rng *rand.Rand, choices ...T) T { return choices[rng.IntN(len(choices))] }
