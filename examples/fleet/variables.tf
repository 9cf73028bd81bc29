variable "servers" {
  description = "How many servers: they are trainer-1, trainer-2 and so on. With fewer, those with the highest numbers are destroyed."
  type        = number
  default     = 2
}

variable "stopped" {
  description = "Names of the servers that should be stopped for now."
  type        = set(string)
  default     = []

  validation {
    condition     = length(setsubtract(var.stopped, [for n in range(var.servers) : "trainer-${n + 1}"])) == 0
    error_message = "Only servers that are there can be stopped: trainer-1 and so on."
  }
}

variable "gpu" {
  description = "Slug of the GPU model, as data source gpurent_gpus lists them."
  type        = string
  default     = "rtx_4090"
}

variable "max_price_kop_h" {
  description = "Most that one server may cost, kopecks per hour."
  type        = number
  default     = 9000 # 90 rubles
}

variable "disk_gb" {
  description = "Disk of each server, GB."
  type        = number
  default     = 60
}

variable "public_key" {
  description = "Your public SSH key. The default is an example: nobody has its private half."
  type        = string
  default     = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPda/jbbPNZ5RTRp1pUygscksPU2bS3oBzgjOijSa2L2 you@example"
}

variable "poll_interval" {
  description = "First pause between two looks at a server that is starting or stopping."
  type        = string
  default     = "5s"
}
