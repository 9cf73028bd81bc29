variable "servers" {
  description = "Number of servers. Their names are trainer-1, trainer-2 and so on. A lower number destroys those with the highest numbers."
  type        = number
  default     = 2
}

variable "stopped" {
  description = "Names of the servers to stop."
  type        = set(string)
  default     = []

  validation {
    condition     = length(setsubtract(var.stopped, [for n in range(var.servers) : "trainer-${n + 1}"])) == 0
    error_message = "Contains a name without a server. The names are trainer-1, trainer-2 and so on, up to the number of servers."
  }
}

variable "gpu" {
  description = "Slug of the GPU model, from the data source gpurent_gpus."
  type        = string
  default     = "rtx_4090"
}

variable "max_price_kop_h" {
  description = "Maximum price of each server in kopecks per hour."
  type        = number
  default     = 9000 # 90 rubles
}

variable "disk_gb" {
  description = "Disk of each server in GB."
  type        = number
  default     = 60
}

variable "public_key" {
  description = "Your public SSH key. The default is an example without a private key."
  type        = string
  default     = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPda/jbbPNZ5RTRp1pUygscksPU2bS3oBzgjOijSa2L2 you@example"
}

variable "poll_interval" {
  description = "Initial interval between two polls of a server that is starting or stopping."
  type        = string
  default     = "5s"
}
