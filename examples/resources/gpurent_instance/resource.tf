provider "gpurent" {}

resource "gpurent_ssh_key" "me" {
  name       = "me"
  public_key = file("~/.ssh/id_ed25519.pub")
}

# The cheapest verified server with one RTX 4090, for at most 90 rubles per hour.
resource "gpurent_instance" "trainer" {
  name            = "trainer"
  template        = "pytorch"
  disk_gb         = 60
  max_price_kop_h = 9000
  ssh_key_ids     = [gpurent_ssh_key.me.id]

  offer_query = {
    gpu      = ["rtx_4090"]
    num_gpus = [1]
    verified = true
  }

  timeouts = {
    create = "45m"
  }
}

output "ssh" {
  # Null while the server is stopped.
  value = gpurent_instance.trainer.ssh.command
}
