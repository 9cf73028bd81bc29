# An example of a module: one GPU server from the cheapest offer under a price cap. It
# has no provider block, so that the calling configuration sets the address of the API.

terraform {
  required_version = ">= 1.11"

  required_providers {
    gpurent = {
      source  = "gpurent/gpurent"
      version = ">= 0.1"
    }
  }
}

data "gpurent_offers" "cheapest" {
  gpu             = [var.gpu]
  num_gpus        = [1]
  type            = var.type
  min_disk_gb     = var.disk_gb
  max_price_kop_h = var.max_price_kop_h
}

resource "gpurent_instance" "server" {
  name            = var.name
  template        = "pytorch"
  disk_gb         = var.disk_gb
  type            = var.type
  max_price_kop_h = var.max_price_kop_h
  ssh_key_ids     = var.ssh_key_ids
  desired_state   = var.running ? "running" : "stopped"

  # Used only at creation. The offer is then no longer in the list. With try, an empty
  # list does not fail the plan of an existing server.
  offer_id = try(data.gpurent_offers.cheapest.ids[0], "no offer under the price cap")
}
