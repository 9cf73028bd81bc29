terraform {
  required_providers {
    gpurent = {
      source  = "gpurent/gpurent"
      version = "~> 0.1"
    }
  }
}

# The address and the API key come from the environment or from a login.
provider "gpurent" {}

resource "gpurent_ssh_key" "me" {
  name       = "me"
  public_key = file("~/.ssh/id_ed25519.pub")
}

# The cheapest server with one RTX 4090, for at most 90 rubles per hour.
resource "gpurent_instance" "trainer" {
  name            = "trainer"
  template        = "pytorch"
  disk_gb         = 60 # GB
  offer_query     = { gpu = ["rtx_4090"], num_gpus = [1] }
  max_price_kop_h = 9000 # kopecks per hour
  ssh_key_ids     = [gpurent_ssh_key.me.id]
}

output "ssh" {
  value = coalesce(gpurent_instance.trainer.ssh.command, "The server is ${gpurent_instance.trainer.status}.")
}
