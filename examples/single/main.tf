# One GPU server for yourself: the cheapest that meets the wish, under a price cap.

terraform {
  required_version = ">= 1.0"

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

variable "public_key_file" {
  description = "Your public SSH key. Its private half opens the server."
  type        = string
  default     = "~/.ssh/id_ed25519.pub"
}

variable "poll_interval" {
  description = "First pause between two looks at a server that is starting."
  type        = string
  default     = "5s"
}

resource "gpurent_ssh_key" "me" {
  name       = "me"
  public_key = file(pathexpand(var.public_key_file))
}

resource "gpurent_instance" "server" {
  name            = "single"
  template        = "pytorch"
  disk_gb         = 60
  max_price_kop_h = 9000 # 90 rubles an hour
  ssh_key_ids     = [gpurent_ssh_key.me.id]
  idempotency_key = "single" # a killed apply loses nothing

  offer_query = {
    gpu      = ["rtx_4090"]
    num_gpus = [1]
  }
}

output "ssh" {
  description = "Command that logs in."
  value       = gpurent_instance.server.ssh.command
}

output "price_kop_h" {
  description = "What the server costs while it runs, kopecks per hour."
  value       = gpurent_instance.server.price.running_kop_h
}
