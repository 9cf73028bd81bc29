package main

import (
	"fmt"
	"strconv"
	"strings"
)

// serverName is the name of the servers, without their numbers.
const serverName = "server"

// serversConfig returns a configuration with one server for each offer. settings are arguments of the provider block.
func serversConfig(settings, name string, offers []string) string {
	quoted := make([]string, len(offers))
	for i, id := range offers {
		quoted[i] = strconv.Quote(id)
	}
	return fmt.Sprintf(`
provider "gpurent" {
  %s
}

locals {
  offers = [%s]
}

resource "gpurent_instance" "server" {
  count    = length(local.offers)
  name     = "%s-${count.index}"
  template = "ubuntu"
  disk_gb  = 20
  offer_id = local.offers[count.index]
}
`, settings, strings.Join(quoted, ", "), name)
}

// fleetConfig returns a configuration with a fleet. settings are arguments of the provider block.
func fleetConfig(settings string, size int) string {
	return fmt.Sprintf(`
provider "gpurent" {
  %s
}

resource "gpurent_fleet" "servers" {
  name          = "%s"
  size          = %d
  template      = "ubuntu"
  disk_gb       = 20
  offer_queries = [{}]
}
`, settings, serverName, size)
}
