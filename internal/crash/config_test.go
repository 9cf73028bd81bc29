//go:build linux

package crash

import (
	"fmt"
	"regexp"
	"strings"
)

const providerBlock = `
provider "gpurent" {
  %s
  poll_interval   = "10ms"
  request_timeout = "%s"
  max_retries     = 3
}
`

// quoted is a server with an offer_id, and everything that it needs.
const quoted = `
resource "gpurent_ssh_key" "crash" {
  name       = "crash"
  public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIvZ/caG9i1LkxpP/DOSGgV/DtqtAYNUH8fCaTRKD+8+"
}

resource "gpurent_template" "crash" {
  name  = "crash"
  image = "registry.example/crash:1"
}

data "gpurent_offers" "quoted" {
  gpu      = ["rtx_4090"]
  num_gpus = [1]
}

resource "gpurent_instance" "quoted" {
  name        = "quoted"
  offer_id    = data.gpurent_offers.quoted.ids[0]
  template    = gpurent_template.crash.slug
  disk_gb     = 20
  ssh_key_ids = [gpurent_ssh_key.crash.id]
  KEY "crash-quoted"
}
`

// queried are two servers with an offer_query.
const queried = `
resource "gpurent_instance" "queried" {
  count       = 2
  name        = "queried-${count.index}"
  offer_query = { gpu = ["rtx_3090"], num_gpus = [1] }
  template    = gpurent_template.crash.slug
  disk_gb     = 20
  ssh_key_ids = [gpurent_ssh_key.crash.id]
  KEY "crash-queried-${count.index}"
}
`

// addresses are the addresses of the servers, by their names.
var addresses = map[string]string{
	"quoted":    "gpurent_instance.quoted",
	"queried-0": "gpurent_instance.queried[0]",
	"queried-1": "gpurent_instance.queried[1]",
}

// ephemeralKey is an API key that exists during one command.
const ephemeralKey = `
ephemeral "gpurent_api_key" "job" {
  name   = "crash"
  scopes = ["user:read", "user:write", "instances:read", "instances:write"]
}
`

// managedKey is an API key that is a resource.
const managedKey = `
resource "gpurent_api_key" "crash" {
  name   = "crash"
  scopes = ["instances:read"]
}
`

// withKeys returns the three servers with a fixed idempotency key for each.
func withKeys() string { return threeServers("idempotency_key =") }

// withPrefix returns the three servers without idempotency keys, for a provider that makes the keys from their names.
func withPrefix() string {
	return provider("idempotency_prefix = \"crash-\"") + strings.ReplaceAll(quoted+queried, "KEY", "#")
}

// withoutKeys returns the three servers without idempotency keys.
func withoutKeys() string { return threeServers("#") }

func threeServers(key string) string {
	return provider("") + strings.ReplaceAll(quoted+queried, "KEY", key)
}

func oneManagedKey() string { return provider("") + managedKey }

// withEphemeralKey returns one server that a provider with an ephemeral API key creates.
func withEphemeralKey() string {
	return provider("") + ephemeralKey + provider("alias = \"job\"\n  api_key = ephemeral.gpurent_api_key.job.secret") +
		blockStart.ReplaceAllString(strings.ReplaceAll(quoted, "KEY", "idempotency_key ="), "$0\n  provider = gpurent.job")
}

// blockStart matches the first lines of resources and data sources.
var blockStart = regexp.MustCompile(`(?m)^(resource|data) "gpurent_.*\{$`)

func provider(arguments string) string { return fmt.Sprintf(providerBlock, arguments, requestTimeout) }

// importBlock returns an import block.
func importBlock(address, id string) string {
	return fmt.Sprintf("\nimport {\n  to = %s\n  id = %q\n}\n", address, id)
}
