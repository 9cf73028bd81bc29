variable "name" {
  description = "Name of the server."
  type        = string
}

variable "gpu" {
  description = "Slug of the GPU model."
  type        = string
  default     = "rtx_4090"
}

variable "type" {
  description = "\"on_demand\", or \"interruptible\": cheaper, and taken away when the market passes the bid."
  type        = string
  default     = "on_demand"
}

variable "max_price_kop_h" {
  description = "Most that the server may cost, kopecks per hour, before the disk."
  type        = number
  default     = 9000 # 90 rubles
}

variable "disk_gb" {
  description = "Disk, GB."
  type        = number
  default     = 60

  validation {
    condition     = var.disk_gb >= 40
    error_message = "The PyTorch image needs a disk of at least 40 GB."
  }
}

variable "running" {
  description = "Whether the server should run. A stopped one keeps its disk, and only the disk is billed."
  type        = bool
  default     = true
}
