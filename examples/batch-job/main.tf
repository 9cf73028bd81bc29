# Rents a server whose start command runs job.sh. The apply ends when the job ends, and
# fails if the job fails. run.sh applies, downloads the result and destroys.

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
  # job.sh writes its result to $RESULT. The trap prints "JOB FAILED" after an error. Its
  # text does not contain these words, because some shells print their commands, too.
  onstart = join("\n", [
    "(",
    "trap 'test $? -eq 0 || printf \"JOB %s\\n\" FAILED' EXIT",
    "set -e",
    "RESULT=/srv/results/$RESULT_TOKEN",
    "mkdir -p \"$RESULT\" && touch /srv/results/index.html",
    "python3 -m http.server 8000 --directory /srv/results >/dev/null 2>&1 &",
    trimspace(file("${path.module}/job.sh")),
    "echo JOB SUCCEEDED",
    ")",
  ])
}

# The token is a part of the address of the result, and index.html hides the list of the
# folder. Everyone with a key of the account can read env, and it is in the state.
resource "gpurent_template" "job" {
  name        = var.name
  image       = "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"
  ports       = [8000]
  env         = { RESULT_TOKEN = var.token }
  onstart     = local.onstart
  min_disk_gb = 40 # GB
}

resource "gpurent_ssh_key" "job" {
  count      = var.public_key == null ? 0 : 1
  name       = var.name
  public_key = var.public_key
}

resource "gpurent_instance" "job" {
  name            = var.name
  idempotency_key = var.name # two runs with the same name never rent two servers
  template        = gpurent_template.job.slug
  disk_gb         = 60
  max_price_kop_h = var.max_price_kop_h
  ssh_key_ids     = gpurent_ssh_key.job[*].id
  offer_query     = { gpu = [var.gpu], num_gpus = [1] }

  ready_when = { log_pattern = "JOB (SUCCEEDED|FAILED)", urls_reachable = true }
  timeouts   = { create = var.max_duration }
}

data "gpurent_instance_logs" "job" {
  instance_id = gpurent_instance.job.id
  tail        = 1000

  lifecycle {
    postcondition {
      condition     = !can(regex("JOB FAILED", join("\n", self.lines)))
      error_message = "The job failed. The end of its log:\n${join("\n", slice(self.lines, max(0, length(self.lines) - 20), length(self.lines)))}"
    }
  }
}

output "result" {
  description = "Address of the result."
  value       = "${gpurent_instance.job.urls[0].url}${var.token}/result.tar.gz"
  sensitive   = true

  depends_on = [data.gpurent_instance_logs.job]
}
