# A fleet of interruptible servers and a fleet of on-demand servers, for work that can be
# interrupted. If a member is outbid, the next apply starts it again with its disk, as long
# as its price is within the cap.

terraform {
  required_version = ">= 1.11"

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
  offer_queries = [{ gpu = [var.gpu], num_gpus = [1] }]

  servers = merge([
    for fleet in [gpurent_fleet.spot, gpurent_fleet.steady] : {
      for slot, member in fleet.instances : "${fleet.name}-${slot}" => merge(member, { type = fleet.type })
    }
  ]...)
}

resource "gpurent_ssh_key" "me" {
  name       = "me"
  public_key = file(var.public_key_file)
}

# At each start, even after an outbid, the server runs resume.sh from its disk, if the
# service runs onstart again: check it once. The script resumes the work from the last checkpoint.
resource "gpurent_template" "worker" {
  name        = "Spot worker"
  description = "Runs /workspace/resume.sh at each start"
  image       = "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"
  min_disk_gb = 40 # GB
  onstart     = "test -f /workspace/resume.sh && nohup sh /workspace/resume.sh >>/workspace/resume.log 2>&1 &"
}

resource "gpurent_fleet" "spot" {
  name          = "spot"
  size          = var.interruptible
  template      = gpurent_template.worker.slug
  disk_gb       = var.disk_gb
  offer_queries = local.offer_queries

  type            = "interruptible"
  max_price_kop_h = var.max_interruptible_kop_h
  ssh_key_ids     = [gpurent_ssh_key.me.id]
  on_outbid       = var.on_outbid
}

# On-demand servers cannot be outbid.
resource "gpurent_fleet" "steady" {
  name          = "steady"
  size          = var.on_demand
  template      = gpurent_template.worker.slug
  disk_gb       = var.disk_gb
  offer_queries = local.offer_queries

  max_price_kop_h = var.max_on_demand_kop_h
  ssh_key_ids     = [gpurent_ssh_key.me.id]
}

# With on_outbid = "keep", a plan shows no changes for an outbid server, but this check
# fails. A failed check shows a warning and does not stop the apply.
check "all_run" {
  assert {
    condition     = alltrue([for server in local.servers : server.status == "running"])
    error_message = "Not running: ${join(", ", [for name, server in local.servers : "${name} (${server.status})" if server.status != "running"])}."
  }
}
