provider "gpurent" {}

resource "gpurent_ssh_key" "me" {
  name       = "me"
  public_key = file("~/.ssh/id_ed25519.pub")
}

resource "gpurent_instance" "worker" {
  for_each = toset(["worker-1", "worker-2"])

  name            = each.key
  template        = "pytorch"
  disk_gb         = 60
  max_price_kop_h = 9000
  ssh_key_ids     = [gpurent_ssh_key.me.id]
  offer_query = {
    gpu      = ["rtx_4090"]
    num_gpus = [1]
  }
}

# Write one file for all servers:
#   terraform output -raw ssh_config > ~/.ssh/gpurent
# With the line "Include gpurent" in ~/.ssh/config, "ssh worker-1" logs in to the first server.
output "ssh_config" {
  value = join("\n", [for name, server in gpurent_instance.worker : provider::gpurent::ssh_config(name, server.ssh)])
}
