# A Ray cluster with an on-demand head and interruptible workers. Ray requires a private
# network. The head provides one over SSH, and join.sh authorizes the workers.

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
  poll_interval      = var.poll_interval
  idempotency_prefix = "ray-" # different in each state; a later apply recovers servers of a killed one
}

locals {
  # Runs at each start of a server, if the service runs onstart again: check it once. It
  # runs in the background, so that onstart returns.
  onstart = {
    for role in ["head", "worker"] : role => join("\n", [
      "{",
      "RAY_VERSION=${var.ray_version}",
      trimspace(file("${path.module}/node.sh")),
      trimspace(file("${path.module}/${role}.sh")),
      "} </dev/null >>/root/cluster.log 2>&1 &",
    ])
  }

  image = "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"
}

resource "gpurent_ssh_key" "operator" {
  name       = "ray"
  public_key = file(pathexpand(var.public_key_file))
}

# The templates contain no secret, because every API key of the account can read them.
# They also contain no address of a server, so that a new head does not change workers.
resource "gpurent_template" "head" {
  name        = "Ray head"
  image       = local.image
  ports       = [2222] # an SSH server for tunnels only; the ports of Ray are not public
  onstart     = local.onstart["head"]
  min_disk_gb = 40 # GB
}

resource "gpurent_template" "worker" {
  name        = "Ray worker"
  image       = local.image
  onstart     = local.onstart["worker"]
  min_disk_gb = 40 # GB
}

# An on-demand server cannot be outbid. Ray tolerates the loss of a worker, but not of the
# head.
resource "gpurent_instance" "head" {
  name        = "ray-head"
  template    = gpurent_template.head.slug
  disk_gb     = var.disk_gb
  ssh_key_ids = [gpurent_ssh_key.operator.id]

  type            = "on_demand"
  max_price_kop_h = var.max_head_kop_h
  desired_state   = var.running ? "running" : "stopped"

  offer_query = {
    gpu      = [var.gpu]
    num_gpus = [1]
    verified = true
  }
}

# In one country. If the first query has not enough offers there, the second one accepts
# other GPUs. The cluster works with fewer workers, so the apply fails only if none runs.
resource "gpurent_fleet" "worker" {
  name        = "ray-worker"
  size        = var.workers
  template    = gpurent_template.worker.slug
  disk_gb     = var.disk_gb
  ssh_key_ids = [gpurent_ssh_key.operator.id]
  same        = ["country"]

  type            = var.worker_type
  max_price_kop_h = var.max_worker_kop_h
  desired_state   = var.running ? "running" : "stopped"

  offer_queries = [
    { gpu = [var.gpu], num_gpus = [1] },
    { min_vram_gb = var.min_vram_gb, num_gpus = [1] },
  ]
}
