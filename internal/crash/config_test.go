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

// quoted is a server and all that it needs; the rest of the fleet is queried.
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

// addresses are the servers of the fleet, by their names.
var addresses = map[string]string{
	"quoted":    "gpurent_instance.quoted",
	"queried-0": "gpurent_instance.queried[0]",
	"queried-1": "gpurent_instance.queried[1]",
}

// passed is a key that lives as long as the run.
const passed = `
ephemeral "gpurent_api_key" "job" {
  name   = "crash"
  scopes = ["user:read", "user:write", "instances:read", "instances:write"]
}
`

const issuedKey = `
resource "gpurent_api_key" "crash" {
  name   = "crash"
  scopes = ["instances:read"]
}
`

// withKeys and withoutKeys are the fleet with a fixed idempotency key for each
// server, and with none.
func withKeys() string { return fleetWith("idempotency_key =") }

func withoutKeys() string { return fleetWith("#") }

func fleetWith(key string) string {
	return provider("") + strings.ReplaceAll(quoted+queried, "KEY", key)
}

func oneKey() string { return provider("") + issuedKey }

// passedKey is one server of the fleet, made with a key that only this run has.
func passedKey() string {
	return provider("") + passed + provider("alias = \"job\"\n  api_key = ephemeral.gpurent_api_key.job.secret") +
		ours.ReplaceAllString(strings.ReplaceAll(quoted, "KEY", "idempotency_key ="), "$0\n  provider = gpurent.job")
}

// ours are the first lines of what the provider manages.
var ours = regexp.MustCompile(`(?m)^(resource|data) "gpurent_.*\{$`)

func provider(arguments string) string { return fmt.Sprintf(providerBlock, arguments, patience) }

// importing is a block that takes something over.
func importing(address, id string) string {
	return fmt.Sprintf("\nimport {\n  to = %s\n  id = %q\n}\n", address, id)
}
