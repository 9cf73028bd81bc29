variable "interruptible" {
  description = "Number of interruptible servers. Their names are spot-0, spot-1 and so on."
  type        = number
  default     = 2
}

variable "on_demand" {
  description = "Number of on-demand servers. Their names are steady-0, steady-1 and so on. They keep running while the interruptible servers are outbid."
  type        = number
  default     = 1
}

variable "max_interruptible_kop_h" {
  description = "Maximum price of each interruptible server in kopecks per hour, for the first and every later bid. It should be below the on-demand price."
  type        = number
  default     = 3500 # 35 rubles
}

variable "max_on_demand_kop_h" {
  description = "Maximum price of each on-demand server in kopecks per hour."
  type        = number
  default     = 9000 # 90 rubles
}

variable "on_outbid" {
  description = "Action of the next apply for an outbid server: \"restart\" bids again within the cap, \"keep\" does nothing, \"replace\" rents another server, and the data on the disk is lost."
  type        = string
  default     = "restart"
}

variable "gpu" {
  description = "Slug of the GPU model, from the data source gpurent_gpus."
  type        = string
  default     = "rtx_4090"
}

variable "disk_gb" {
  description = "Disk of each server in GB, including space for the checkpoints."
  type        = number
  default     = 60
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
