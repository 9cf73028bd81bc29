# The GPU servers that the pipeline manages.

terraform {
  required_providers {
    gpurent = {
      source  = "gpurent/gpurent"
      version = ">= 0.1"
    }
  }
}

# A key of the account, because the keys of the pipeline cannot add one: user:write would
# let the pipeline issue API keys.
data "gpurent_ssh_key" "team" {
  name = "team"
}

resource "gpurent_fleet" "research" {
  name            = "research"
  size            = 1
  template        = "pytorch"
  disk_gb         = 60
  offer_queries   = [{ gpu = ["rtx_4090"], num_gpus = [1] }]
  max_price_kop_h = 9000 # 90 rubles per hour for each server
  ssh_key_ids     = [data.gpurent_ssh_key.team.id]
}

output "servers" {
  description = "The servers by number."
  value       = { for slot, server in gpurent_fleet.research.instances : slot => { id = server.id, status = server.status, ssh = try("ssh -p ${server.ssh_port} ${server.ssh_user}@${server.ssh_host}", null) } }
}
