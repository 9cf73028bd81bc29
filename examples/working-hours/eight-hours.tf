# Destroyed by the first apply that begins eight hours after the creation or later.

# Keeps the time of its creation. A server's created_at cannot decide whether the server
# exists: that would be a cycle.
resource "terraform_data" "begin" {
  input = local.now

  lifecycle {
    ignore_changes = [input]
  }
}

locals {
  end = timeadd(terraform_data.begin.input, "8h")
}

resource "gpurent_instance" "experiment" {
  count           = timecmp(local.now, local.end) < 0 ? 1 : 0
  name            = "experiment"
  template        = "pytorch"
  disk_gb         = 60
  max_price_kop_h = 9000 # 90 rubles per hour
  offer_query     = { gpu = ["rtx_4090"], num_gpus = [1] }
  ssh_key_ids     = [gpurent_ssh_key.me.id]
}

output "end" {
  description = "Time from which an apply destroys the server, UTC."
  value       = local.end
}
