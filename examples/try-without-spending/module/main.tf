# One GPU server from the cheapest offer under a price cap: a module as you
# might have one. It names no provider settings, so that whoever calls it decides
# which service it talks to.

terraform {
  required_version = ">= 1.6" # for the tests

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
  desired_state   = var.running ? "running" : "stopped"

  # The offer acts when the server is rented. Afterwards it leaves the list, and a
  # list that is empty one day must not fail a server that is there: hence the try.
  offer_id = try(data.gpurent_offers.cheapest.ids[0], "no offer under the price cap")
}
