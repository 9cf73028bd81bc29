package bench

import "fmt"

// offersPerScale is the least number of offers that a market of scale 1 has.
const offersPerScale = 60

// balanceKop pays for all servers.
const balanceKop = 900_000_000_000

// providerConfig returns the provider block with the given arguments.
func providerConfig(arguments string) string {
	return "provider \"gpurent\" {\n  " + arguments + "\n}\n"
}

// serversConfig returns servers with count.
func serversConfig(servers int) string {
	return fmt.Sprintf(`
resource "gpurent_instance" "server" {
  count       = %d
  name        = "server-${count.index}"
  template    = "ubuntu"
  disk_gb     = 20
  offer_query = {}
}
`, servers)
}

// fleetConfig returns a fleet.
func fleetConfig(servers int) string {
	return fmt.Sprintf(`
resource "gpurent_fleet" "servers" {
  name          = "member"
  size          = %d
  template      = "ubuntu"
  disk_gb       = 20
  offer_queries = [{}]
}
`, servers)
}
