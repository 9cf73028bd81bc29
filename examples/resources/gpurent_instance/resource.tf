# The cheapest verified server with one RTX 4090 for at most 90 rubles an hour.
data "gpurent_offers" "cheapest" {
  gpu             = ["rtx_4090"]
  num_gpus        = [1]
  verified        = true
  max_price_kop_h = 9000
}

resource "gpurent_instance" "trainer" {
  name     = "trainer"
  offer_id = data.gpurent_offers.cheapest.ids[0]
  template = "pytorch"
  disk_gb  = 60

  # "stopped" keeps the disk, and only the disk is billed.
  desired_state = "running"

  timeouts = {
    create = "45m"
  }
}

output "ssh" {
  value = gpurent_instance.trainer.ssh.command
}
