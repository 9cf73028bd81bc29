provider "gpurent" {}

resource "gpurent_ssh_key" "me" {
  name       = "me"
  public_key = file("~/.ssh/id_ed25519.pub")
}

# A server that can be outbid. The next apply places a new bid, for at most 30 rubles per hour.
resource "gpurent_instance" "batch" {
  name            = "batch"
  template        = "pytorch"
  disk_gb         = 60
  type            = "interruptible"
  max_price_kop_h = 3000
  ssh_key_ids     = [gpurent_ssh_key.me.id]
  on_outbid       = "restart"
  offer_query     = { min_vram_gb = 24 }
}
