provider "gpurent" {}

resource "gpurent_ssh_key" "me" {
  name       = "me"
  public_key = file("~/.ssh/id_ed25519.pub")
}

# Five servers that can be outbid. The apply succeeds once four are ready, and the next apply adds the fifth.
resource "gpurent_fleet" "batch" {
  name            = "batch"
  size            = 5
  template        = "pytorch"
  disk_gb         = 60
  type            = "interruptible"
  max_price_kop_h = 3000
  ssh_key_ids     = [gpurent_ssh_key.me.id]
  min_ready       = 4
  on_outbid       = "restart"
  offer_queries   = [{ min_vram_gb = 16 }]
}
