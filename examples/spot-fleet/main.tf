# A fleet of interruptible servers and some on-demand servers, for work that can be
# interrupted. If a server is outbid, the next apply starts it again with its disk, as long
# as its price is within the cap.

terraform {
  required_version = ">= 1.5" # for the check block

  required_providers {
    gpurent = {
      source  = "gpurent/gpurent"
      version = ">= 0.1"
    }
  }
}

provider "gpurent" {
  poll_interval = var.poll_interval
}

locals {
  # With names instead of a count, adding or removing a server does not change the
  # addresses of the others.
  spot   = { for n in range(var.interruptible) : "spot-${n + 1}" => "interruptible" }
  steady = { for n in range(var.on_demand) : "steady-${n + 1}" => "on_demand" }

  max_price_kop_h = {
    interruptible = var.max_interruptible_kop_h
    on_demand     = var.max_on_demand_kop_h
  }
}

# At every start, including the start after an outbid, the server runs resume.sh from its
# disk. The script resumes the work from the last checkpoint.
resource "gpurent_template" "worker" {
  name        = "Spot worker"
  description = "Runs /workspace/resume.sh at every start"
  image       = "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"
  min_disk_gb = 40 # GB
  onstart     = "test -f /workspace/resume.sh && nohup sh /workspace/resume.sh >>/workspace/resume.log 2>&1 &"
}

resource "gpurent_instance" "worker" {
  for_each = merge(local.spot, local.steady)

  name            = each.key
  template        = gpurent_template.worker.slug
  disk_gb         = var.disk_gb
  idempotency_key = "spot-fleet-${each.key}"

  type            = each.value
  max_price_kop_h = local.max_price_kop_h[each.value]
  on_outbid       = var.on_outbid

  offer_query = {
    gpu      = [var.gpu]
    num_gpus = [1]
  }
}

# With on_outbid = "keep", a plan shows no changes for an outbid server, but this check
# fails. A failed check shows a warning and does not stop the apply.
check "all_run" {
  assert {
    condition     = alltrue([for server in gpurent_instance.worker : server.status == "running"])
    error_message = "Not running: ${join(", ", [for name, server in gpurent_instance.worker : "${name} (${server.status})" if server.status != "running"])}."
  }
}
