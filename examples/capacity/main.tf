# Two servers with 8 H100 each, or 8 A100 if those appear first, and a job that
# starts when both servers are ready for it.

terraform {
  required_version = ">= 1.11"

  required_providers {
    gpurent = {
      source  = "gpurent/gpurent"
      version = ">= 0.1"
    }
  }
}

# The address and the API key come from GPURENT_BASE_URL and GPURENT_API_KEY, or
# from the credentials file, so that the configuration contains no secret.
provider "gpurent" {
  poll_interval      = var.poll_interval
  idempotency_prefix = "capacity-" # after a kill, an apply within an hour of the rental recovers the servers
}

variable "public_key_file" {
  description = "Path of the file with your public SSH key. The job starts with the matching private key."
  type        = string
  default     = "~/.ssh/id_ed25519.pub"
}

variable "poll_interval" {
  description = "Initial interval between two polls of a server that is starting or stopping."
  type        = string
  default     = "5s"
}

variable "job" {
  description = "Shell command that starts the job on each server."
  type        = string
  default     = "nohup torchrun --nproc-per-node 8 /workspace/train.py >/workspace/train.log 2>&1 &"
}

resource "gpurent_ssh_key" "me" {
  name       = "me"
  public_key = file(pathexpand(var.public_key_file))
}

# The last line of onstart appears in the startup log when the server is prepared.
resource "gpurent_template" "training" {
  name    = "training"
  image   = "pytorch/pytorch:2.5.1-cuda12.4-cudnn9-devel"
  onstart = <<-EOT
    git clone --depth 1 https://git.example/training.git /workspace
    echo WORKSPACE READY
  EOT
}

resource "gpurent_instance" "node" {
  count           = 2
  name            = "node-${count.index}"
  template        = gpurent_template.training.slug
  disk_gb         = 100
  max_price_kop_h = 300000 # 3,000 rubles per hour for each server
  ssh_key_ids     = [gpurent_ssh_key.me.id]

  wait_for_offer   = "2h"
  offer_query      = { gpu = ["h100_sxm"], num_gpus = [8] }
  fallback_queries = [{ gpu = ["a100_sxm4_80gb"], num_gpus = [8] }]

  ready_when = { log_pattern = "WORKSPACE READY", ssh_reachable = true }
}

# Starts the job on a server when it is new.
resource "terraform_data" "job" {
  count            = 2
  triggers_replace = [gpurent_instance.node[count.index].id, var.job]

  provisioner "local-exec" {
    command = "${gpurent_instance.node[count.index].ssh.command} -o StrictHostKeyChecking=accept-new '${var.job}'"
  }
}

output "nodes" {
  description = "GPUs and price in kopecks per hour of each server. Query 0 is offer_query, 1 the fallback."
  value = { for node in gpurent_instance.node : node.name => {
    gpu   = node.gpu.name
    query = node.matched_query
    kop_h = node.quoted_kop_h
  } }
}
