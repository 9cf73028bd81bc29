# One GPU server from the cheapest matching offer under a price cap.

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

variable "public_key_file" {
  description = "Path of the file with your public SSH key. You log in to the server with the matching private key."
  type        = string
  default     = "~/.ssh/id_ed25519.pub"
}

variable "poll_interval" {
  description = "Initial interval between two polls of a server that is starting or stopping."
  type        = string
  default     = "5s"
}

resource "gpurent_ssh_key" "me" {
  name       = "me"
  public_key = file(var.public_key_file)
}

resource "gpurent_instance" "server" {
  name            = "single"
  template        = "pytorch"
  disk_gb         = 60
  max_price_kop_h = 9000 # 90 rubles per hour
  ssh_key_ids     = [gpurent_ssh_key.me.id]

  offer_query = {
    gpu      = ["rtx_4090"]
    num_gpus = [1]
  }
}

output "ssh" {
  description = "SSH command that logs in to the server."
  value       = gpurent_instance.server.ssh.command
}

output "price_kop_h" {
  description = "Price of the running server in kopecks per hour."
  value       = gpurent_instance.server.price.running_kop_h
}
