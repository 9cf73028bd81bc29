provider "gpurent" {}

resource "gpurent_ssh_key" "me" {
  name       = "me"
  public_key = file("~/.ssh/id_ed25519.pub")
}

# Four servers with one RTX 4090 each, or an RTX 3090 if there are not enough, each for at most 90 rubles per hour.
resource "gpurent_fleet" "train" {
  name            = "train" # the members are train-0 to train-3
  size            = 4
  template        = "pytorch"
  disk_gb         = 60
  max_price_kop_h = 9000
  ssh_key_ids     = [gpurent_ssh_key.me.id]

  offer_queries = [
    { gpu = ["rtx_4090"], num_gpus = [1] },
    { gpu = ["rtx_3090"], num_gpus = [1] },
  ]

  timeouts = {
    create = "45m"
  }
}

output "hosts" {
  value = gpurent_fleet.train.hosts
}
