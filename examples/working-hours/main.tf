# Two servers that a scheduled pipeline applies every hour: night.tf stops one of them
# outside working hours, and eight-hours.tf destroys the other one eight hours after its
# creation.

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
  idempotency_prefix = "hours/" # the apply of the next hour does not rent a server of a killed run again
  recover_within     = "2h"     # more than an hour between two applies
}

variable "now" {
  description = "Time of the plan, RFC 3339. Defaults to the present. Set it only to see the plan of another time."
  type        = string
  default     = null
}

variable "public_key_file" {
  description = "Path of the file with your public SSH key. You log in to the servers with the matching private key."
  type        = string
  default     = "~/.ssh/id_ed25519.pub"
}

variable "poll_interval" {
  description = "Initial interval between two polls of a server that is starting or stopping."
  type        = string
  default     = "5s"
}

locals {
  now = coalesce(var.now, plantimestamp())
}

resource "gpurent_ssh_key" "me" {
  name       = "working-hours"
  public_key = file(pathexpand(var.public_key_file))
}
