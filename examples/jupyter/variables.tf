variable "running" {
  description = "Whether the server should run. Stopped, it keeps its disk, and only the disk is billed."
  type        = bool
  default     = true
}

variable "gpu" {
  description = "Slug of the GPU model, as data source gpurent_gpus lists them."
  type        = string
  default     = "rtx_4090"
}

variable "max_price_kop_h" {
  description = "Most that the server may cost, kopecks per hour."
  type        = number
  default     = 9000 # 90 rubles
}

variable "disk_gb" {
  description = "Disk, GB. A change replaces the server, and what is on the disk is lost."
  type        = number
  default     = 60
}

variable "poll_interval" {
  description = "First pause between two looks at a server that is starting or stopping."
  type        = string
  default     = "5s"
}
