package chaos

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// wish is what a user wants of one server.
type wish struct {
	arguments map[string]string // as they are written
	keyed     bool
}

// wishes are a whole configuration.
type wishes struct {
	servers   map[string]*wish
	image     string // of the own template
	apiKey    bool
	retries   int
	impatient bool // a request times out before a slow answer comes
}

const maxServers = 4

func newWishes(rng *rand.Rand) *wishes {
	w := &wishes{
		servers: map[string]*wish{}, image: "ubuntu:24.04", apiKey: rng.IntN(2) == 0,
		retries: pickOne(rng, 0, 1, 3), impatient: rng.IntN(2) == 0,
	}
	for range 2 {
		w.add(rng)
	}
	return w
}

func (w *wishes) add(rng *rand.Rand) {
	for n := range maxServers {
		name := fmt.Sprintf("s%d", n)
		if w.servers[name] != nil {
			continue
		}
		w.servers[name] = &wish{keyed: rng.IntN(2) == 0, arguments: map[string]string{
			"template":    pickOne(rng, `"pytorch"`, `"ubuntu"`, "gpurent_template.own.slug"),
			"disk_gb":     "60",
			"offer_query": pickOne(rng, `{}`, `{ gpu = ["rtx_4090"] }`, `{ order = "dlperf" }`),
			"type":        pickOne(rng, `"on_demand"`, `"interruptible"`),
			"name":        fmt.Sprintf("%q", name),
		}}
		return
	}
}

// change is what a user does to a configuration between two applies.
func (w *wishes) change(rng *rand.Rand) string {
	names := slices.Sorted(maps.Keys(w.servers))
	action := rng.IntN(12)
	switch {
	case action == 0 || len(names) == 0:
		w.add(rng)
		return "another server"
	case action == 1 && len(names) > 1:
		name := pickOne(rng, names...)
		delete(w.servers, name)
		return "without " + name
	case action == 2:
		w.image = pickOne(rng, "ubuntu:24.04", "ubuntu:22.04")
		return "template from " + w.image
	case action == 3:
		w.apiKey = !w.apiKey
		return fmt.Sprintf("an API key: %t", w.apiKey)
	}
	name := pickOne(rng, names...)
	argument := pickOne(rng, "name", "desired_state", "desired_state", "desired_state", "disk_gb", "on_outbid", "offer_query", "ssh_key_ids", "replace_on", "max_price_kop_h")
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
	w.servers[name].arguments[argument] = value
	return fmt.Sprintf("%s: %s = %s", name, argument, value)
}

// provider writes the provider block.
func (w *wishes) provider(baseURL, apiKey string) string {
	timeout := "5s" // beyond the delay of a storm; after a lost answer, an apply waits this long
	if w.impatient {
		timeout = "1500ms"
	}
	return fmt.Sprintf(`provider "gpurent" {
  base_url        = %q
  api_key         = %q
  poll_interval   = "1ms"
  max_retries     = %d
  request_timeout = %q
}
`, baseURL, apiKey, w.retries, timeout)
}

// text writes the configuration, without its provider block.
func (w *wishes) text() string {
	var text strings.Builder
	fmt.Fprintf(&text, "resource \"gpurent_template\" \"own\" {\n  name = \"Own\"\n  image = %q\n  ports = [8080]\n}\n", w.image)
	text.WriteString("resource \"gpurent_ssh_key\" \"own\" {\n  public_key = \"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIvZ/caG9i1LkxpP/DOSGgV/DtqtAYNUH8fCaTRKD+8+\"\n}\n")
	if w.apiKey {
		text.WriteString("resource \"gpurent_api_key\" \"own\" {\n  name = \"own\"\n  scopes = [\"instances:read\"]\n}\n")
	}
	for _, name := range slices.Sorted(maps.Keys(w.servers)) {
		wish := w.servers[name]
		fmt.Fprintf(&text, "resource \"gpurent_instance\" %q {\n", name)
		for _, argument := range slices.Sorted(maps.Keys(wish.arguments)) {
			if value := wish.arguments[argument]; value != "" {
				fmt.Fprintf(&text, "  %s = %s\n", argument, value)
			}
		}
		if wish.keyed {
			fmt.Fprintf(&text, "  idempotency_key = %q\n", "key-of-"+name)
		}
		text.WriteString("}\n")
	}
	return text.String()
}

func pickOne[T any](rng *rand.Rand, choices ...T) T { return choices[rng.IntN(len(choices))] }
