variable "workers" {
  description = "Number of workers. Their names are ray-worker-0, ray-worker-1 and so on. A lower number destroys those with the highest numbers."
  type        = number
  default     = 2

  validation {
    condition     = var.workers >= 0 && var.workers <= 32
    error_message = "The number of workers must be between 0 and 32."
  }
}

variable "worker_type" {
  description = "Type of the workers: on_demand, or interruptible, which is cheaper but can be outbid. A change replaces the workers."
  type        = string
  default     = "interruptible"
}

variable "running" {
  description = "Whether the servers run. Stopped servers keep their disks, and only the disks are billed."
  type        = bool
  default     = true
}

variable "max_head_kop_h" {
  description = "Maximum price of the head in kopecks per hour."
  type        = number
  default     = 9000 # 90 rubles
}

variable "max_worker_kop_h" {
  description = "Maximum price of each worker in kopecks per hour, for the first and every later bid."
  type        = number
  default     = 3500 # 35 rubles
}

variable "gpu" {
  description = "Slug of the GPU model, from the data source gpurent_gpus."
  type        = string
  default     = "rtx_4090"
}

variable "min_vram_gb" {
  description = "Minimum VRAM of each GPU in GB, for workers with another GPU model if there are not enough of the first one in one country."
  type        = number
  default     = 24
}

variable "disk_gb" {
  description = "Disk of each server in GB. A change replaces the servers."
  type        = number
  default     = 60
}

variable "ray_version" {
  description = "Version of Ray on all servers. Tokens require 2.52.0 or later. A change replaces the servers."
  type        = string
  default     = "2.52.0"
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
