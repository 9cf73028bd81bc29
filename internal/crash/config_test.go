//go:build linux

package crash

import (
	"fmt"
	"strings"
)

const providerBlock = `
provider "gpurent" {
  poll_interval   = "10ms"
  request_timeout = "%s"
  max_retries     = 3
}
`

const fleet = `
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
	return fmt.Sprintf(providerBlock, patience) + strings.ReplaceAll(fleet, "KEY", key)
}

func oneKey() string { return fmt.Sprintf(providerBlock, patience) + issuedKey }

// importing is a block that takes something over.
func importing(address, id string) string {
	return fmt.Sprintf("\nimport {\n  to = %s\n  id = %q\n}\n", address, id)
}
