provider "gpurent" {}

resource "gpurent_ssh_key" "me" {
  name       = "me"
  public_key = file("~/.ssh/id_ed25519.pub")
}

# Two servers for a distributed job, in the same country: both or none. The apply waits for the offers.
resource "gpurent_fleet" "job" {
  name            = "job"
  size            = 2
  template        = "pytorch"
  disk_gb         = 60
  max_price_kop_h = 200000 # 2,000 rubles per hour for each server
  ssh_key_ids     = [gpurent_ssh_key.me.id]

  allocation     = "all"
  same           = ["country"]
  offer_queries  = [{ gpu = ["h100_sxm"], num_gpus = [4] }]
  wait_for_offer = "2h"
}
