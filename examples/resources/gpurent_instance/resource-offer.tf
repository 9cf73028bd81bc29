provider "gpurent" {}

resource "gpurent_ssh_key" "me" {
  name       = "me"
  public_key = file("~/.ssh/id_ed25519.pub")
}

# An offer that an expression selects: the fastest download below 120 rubles per hour.
data "gpurent_offers" "fast" {
  min_vram_gb     = 24
  min_disk_gb     = 200
  max_price_kop_h = 12000
  order           = "inet_down"
}

resource "gpurent_instance" "download" {
  name            = "download"
  template        = "ubuntu"
  disk_gb         = 200
  max_price_kop_h = 12000
  ssh_key_ids     = [gpurent_ssh_key.me.id]
  offer_id        = try(data.gpurent_offers.fast.ids[0], "no offer below the cap")
}
