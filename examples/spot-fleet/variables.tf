variable "interruptible" {
  description = "How many interruptible servers: spot-1, spot-2 and so on."
  type        = number
  default     = 2
}

variable "on_demand" {
  description = "How many servers at a fixed price: steady-1 and so on. They are what is left when the market is above the cap."
  type        = number
  default     = 1
}

variable "max_interruptible_kop_h" {
  description = "Most that one interruptible server may cost, kopecks per hour: for the first bid and every later one. Best below the price on demand."
  type        = number
  default     = 3500 # 35 rubles
}

variable "max_on_demand_kop_h" {
  description = "Most that one server at a fixed price may cost, kopecks per hour."
  type        = number
  default     = 9000 # 90 rubles
}

variable "on_outbid" {
  description = "What the next apply does about an outbid server: \"restart\" bids again within the cap, \"keep\" leaves it, \"replace\" rents another, and the disk is lost."
  type        = string
  default     = "restart"
}

variable "gpu" {
  description = "Slug of the GPU model, as data source gpurent_gpus lists them."
  type        = string
  default     = "rtx_4090"
}

variable "disk_gb" {
  description = "Disk of each server, GB: room for the checkpoints too."
  type        = number
  default     = 60
}

variable "poll_interval" {
  description = "First pause between two looks at a server that is starting."
  type        = string
  default     = "5s"
}
