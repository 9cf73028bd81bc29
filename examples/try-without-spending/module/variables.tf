variable "name" {
  description = "Name of the server."
  type        = string
}

variable "ssh_key_ids" {
  description = "Ids of the SSH keys of the server. An empty set attaches none."
  type        = set(string)
}

variable "gpu" {
  description = "Slug of the GPU model, from the data source gpurent_gpus."
  type        = string
  default     = "rtx_4090"
}

variable "type" {
  description = "on_demand, or interruptible, which is cheaper but can be outbid. A change replaces the server, and the data on the disk is lost."
  type        = string
  default     = "on_demand"
}

variable "max_price_kop_h" {
  description = "Maximum price of the server in kopecks per hour, without disk beyond the offer's base."
  type        = number
  default     = 9000 # 90 rubles
}

variable "disk_gb" {
  description = "Disk in GB. A change replaces the server, and the data on the disk is lost."
  type        = number
  default     = 60

  validation {
    condition     = var.disk_gb >= 40
    error_message = "The PyTorch image requires a disk of at least 40 GB."
  }
}

variable "running" {
  description = "Whether the server runs. A stopped server keeps its disk, and only the disk is billed."
  type        = bool
  default     = true
}
