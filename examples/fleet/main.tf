# Two GPU servers for a team: its own image, one SSH key that opens them, and a
# key for the pipeline that looks after them.

terraform {
  required_version = ">= 1.5" # for the check block

  required_providers {
    gpurent = {
      source  = "gpurent/gpurent"
      version = ">= 0.1"
    }
  }
}

# Address and key come from GPURENT_BASE_URL and GPURENT_API_KEY, or from the
# credentials file: neither has a place in a configuration.
provider "gpurent" {
  poll_interval = var.poll_interval
}

resource "gpurent_template" "fleet" {
  name        = "Fleet"
  description = "PyTorch, with TensorBoard on port 6006"
  image       = "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"
  ports       = [6006]
  min_disk_gb = 40 # GB
  env = {
    HF_HOME = "/workspace/cache"
  }
}

resource "gpurent_ssh_key" "fleet" {
  name       = "fleet"
  public_key = var.public_key
}

# The pipeline may rent and stop servers. It can neither issue keys nor read the
# account. The new key is there before the old one is revoked.
resource "gpurent_api_key" "ci" {
  name               = "fleet-ci"
  scopes             = ["instances:read", "instances:write"]
  expires_in_days    = 90
  rotate_before_days = 14

  lifecycle {
    create_before_destroy = true
  }
}

locals {
  # Each server goes by its name, not by a place in a list: whoever leaves or is
  # replaced, the others stay what they are.
  names = toset([for n in range(var.servers) : "trainer-${n + 1}"])
}

resource "gpurent_instance" "server" {
  for_each = local.names

  name        = each.key
  template    = gpurent_template.fleet.slug
  disk_gb     = var.disk_gb
  ssh_key_ids = [gpurent_ssh_key.fleet.id]

  # The cheapest offer that is there when the server is rented; each server takes
  # another. Afterwards the market moves on, and the server stays.
  offer_query = {
    gpu      = [var.gpu]
    num_gpus = [1]
  }
  max_price_kop_h = var.max_price_kop_h

  # Stands for this one server: should an apply be killed before it has saved what
  # it rented, the next one takes the server over.
  idempotency_key = "fleet-${each.key}"

  # A stopped server keeps its disk, and only the disk is billed.
  desired_state = contains(var.stopped, each.key) ? "stopped" : "running"
}

data "gpurent_balance" "now" {}

# A warning, not an error, when the money would not last until tomorrow.
check "funds" {
  assert {
    condition     = coalesce(data.gpurent_balance.now.runway_hours, 24) >= 24
    error_message = "The balance lasts for less than 24 hours."
  }
}
