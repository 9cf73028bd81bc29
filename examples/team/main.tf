# Two GPU servers for a team: a template for your image, an SSH key for both
# servers, and an API key for the pipeline that manages them.

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
  poll_interval = var.poll_interval
}

resource "gpurent_template" "team" {
  name        = "Team"
  description = "PyTorch, with TensorBoard on port 6006"
  image       = "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"
  ports       = [6006]
  min_disk_gb = 40 # GB
  env = {
    HF_HOME = "/workspace/cache"
  }
}

resource "gpurent_ssh_key" "team" {
  name       = "team"
  public_key = var.public_key
}

# With this key the pipeline can rent and stop servers, but cannot issue keys. With
# user:read, the provider detects the key of another account. A new key is created
# before the old one is revoked.
resource "gpurent_api_key" "ci" {
  name               = "team-ci"
  scopes             = ["instances:read", "instances:write", "user:read"]
  expires_in_days    = 90
  rotate_before_days = 14

  lifecycle {
    create_before_destroy = true
  }
}

locals {
  # With names instead of a count, adding or removing a server does not change the
  # addresses of the others.
  names = toset([for n in range(var.servers) : "trainer-${n + 1}"])
}

resource "gpurent_instance" "server" {
  for_each = local.names

  name        = each.key
  template    = gpurent_template.team.slug
  disk_gb     = var.disk_gb
  ssh_key_ids = [gpurent_ssh_key.team.id]

  # The cheapest matching offer at the time of the creation, another one for each
  # server. Later changes of the market do not affect the server.
  offer_query = {
    gpu      = [var.gpu]
    num_gpus = [1]
  }
  max_price_kop_h = var.max_price_kop_h

  # Unique for each server. If an apply is killed before it has saved the server in
  # the state, an apply within an hour of the rental recovers it with this key.
  idempotency_key = "team-${each.key}"

  # A stopped server keeps its disk, and only the disk is billed.
  desired_state = contains(var.stopped, each.key) ? "stopped" : "running"
}

data "gpurent_balance" "now" {}

# A failed check shows a warning and does not stop the apply.
check "funds" {
  assert {
    condition     = coalesce(data.gpurent_balance.now.runway_hours, 24) >= 24
    error_message = "The balance lasts for less than 24 hours."
  }
}
