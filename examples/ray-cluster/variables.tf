variable "workers" {
  description = "How many workers: worker-1, worker-2 and so on. With fewer, those with the highest numbers are destroyed."
  type        = number
  default     = 2

  validation {
    condition     = var.workers >= 0 && var.workers <= 32
    error_message = "The head has room for 32 workers."
  }
}

variable "worker_type" {
  description = "\"interruptible\" or \"on_demand\". A change replaces the workers."
  type        = string
  default     = "interruptible"
}

variable "running" {
  description = "Whether the cluster should run. Stopped, the servers keep their disks, and only the disks are billed."
  type        = bool
  default     = true
}

variable "max_head_kop_h" {
  description = "Most that the head may cost, kopecks per hour."
  type        = number
  default     = 9000 # 90 rubles
}

variable "max_worker_kop_h" {
  description = "Most that one worker may cost, kopecks per hour, for the first bid and every later one."
  type        = number
  default     = 3500 # 35 rubles
}

variable "gpu" {
  description = "Slug of the GPU model, as data source gpurent_gpus lists them."
  type        = string
  default     = "rtx_4090"
}

variable "disk_gb" {
  description = "Disk of each server, GB. A change replaces the servers."
  type        = number
  default     = 60
}

variable "ray_version" {
  description = "Version of Ray, the same everywhere. Tokens need 2.52.0 or later. A change replaces the servers."
  type        = string
  default     = "2.52.0"
}

variable "public_key_file" {
  description = "Your public SSH key. Its private half opens the servers."
  type        = string
  default     = "~/.ssh/id_ed25519.pub"
}

variable "poll_interval" {
  description = "First pause between two looks at a server that is starting or stopping."
  type        = string
  default     = "5s"
}
