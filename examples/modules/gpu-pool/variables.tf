variable "name" {
  description = "Name of the pool. Each server is named NAME-SERVER."
  type        = string

  validation {
    condition     = can(regex("^[!-~]{1,40}$", var.name))
    error_message = "The name of the pool must have 1 to 40 printable ASCII characters and no spaces."
  }
}

variable "size" {
  description = "Number of servers, which are named 01, 02 and so on. A smaller number destroys those with the highest numbers. Ignored if names is set."
  type        = number
  default     = 1

  validation {
    condition     = var.size >= 0 && var.size <= 99 && floor(var.size) == var.size
    error_message = "The size must be an integer between 0 and 99. For more servers, set names."
  }
}

variable "names" {
  description = "Names of the servers. Numbered by default, see size."
  type        = set(string)
  default     = null

  validation {
    condition     = alltrue([for name in coalesce(var.names, []) : can(regex("^[!-~]{1,19}$", name))])
    error_message = "The name of each server must have 1 to 19 printable ASCII characters and no spaces."
  }
}

variable "offer_query" {
  description = "Filters for the offers, as in gpurent_instance.offer_query. No filters by default. Used only at creation."
  type = object({
    gpu                = optional(set(string))
    num_gpus           = optional(set(number))
    min_gpus           = optional(number)
    min_vram_gb        = optional(number)
    country            = optional(set(string))
    min_reliability    = optional(number)
    verified           = optional(bool)
    min_cuda           = optional(number)
    min_disk_gb        = optional(number)
    min_inet_down_mbps = optional(number)
    order              = optional(string)
    max_attempts       = optional(number)
  })
  default = {}
}

variable "type" {
  description = "on_demand, or interruptible, which is cheaper but can be outbid. A change replaces the servers, and the data on the disks is lost."
  type        = string
  default     = "on_demand"

  validation {
    condition     = contains(["on_demand", "interruptible"], var.type)
    error_message = "The type must be \"on_demand\" or \"interruptible\"."
  }
}

variable "max_price_kop_h" {
  description = "Maximum price of each server in kopecks per hour, without disk beyond the offer's base. Applies to rentals, starts and bids."
  type        = number

  validation {
    condition     = var.max_price_kop_h > 0 && floor(var.max_price_kop_h) == var.max_price_kop_h
    error_message = "The maximum price must be an integer greater than 0, in kopecks per hour."
  }
}

variable "max_total_kop_h" {
  description = "Maximum cost of all servers in kopecks per hour. The plan fails if the servers can exceed it at max_price_kop_h each. The plan or the apply fails if the actual prices, disks included, exceed it. No limit by default."
  type        = number
  default     = null

  validation {
    condition     = var.max_total_kop_h == null ? true : length(local.names) * var.max_price_kop_h <= var.max_total_kop_h
    error_message = "${length(local.names)} servers at up to ${var.max_price_kop_h} kopecks per hour each can cost more than max_total_kop_h. Reduce the number of servers, lower max_price_kop_h, or raise max_total_kop_h."
  }
}

variable "template" {
  description = "Slug of the template of the servers. A change replaces the servers, and the data on the disks is lost."
  type        = string
  default     = "pytorch"
}

variable "disk_gb" {
  description = "Disk of each server in GB. A change replaces the servers, and the data on the disks is lost."
  type        = number
  default     = 60

  validation {
    condition     = var.disk_gb >= 10 && var.disk_gb <= 2000 && floor(var.disk_gb) == var.disk_gb
    error_message = "The disk size must be an integer between 10 and 2000, in GB."
  }
}

variable "ssh_key_ids" {
  description = "Ids of up to 10 SSH keys for the servers. All keys of the account by default. Used only at creation."
  type        = set(string)
  default     = null

  validation {
    condition     = length(coalesce(var.ssh_key_ids, [])) <= 10
    error_message = "A server can have at most 10 SSH keys."
  }
}

variable "desired_state" {
  description = "running or stopped. Stopped servers keep their disks, and only the disks are billed."
  type        = string
  default     = "running"

  validation {
    condition     = contains(["running", "stopped"], var.desired_state)
    error_message = "The desired state must be \"running\" or \"stopped\"."
  }
}

variable "on_outbid" {
  description = "Policy for an outbid interruptible server at the next apply: restart, keep or replace."
  type        = string
  default     = "restart"

  validation {
    condition     = contains(["restart", "keep", "replace"], var.on_outbid)
    error_message = "The policy must be \"restart\", \"keep\" or \"replace\"."
  }
}

variable "idempotency_key_prefix" {
  description = "Prefix of the idempotency keys of the servers, unique in the account. The name of the pool by default."
  type        = string
  default     = null

  validation {
    condition     = var.idempotency_key_prefix == null ? true : can(regex("^[!-~]{1,40}$", var.idempotency_key_prefix))
    error_message = "The prefix must have 1 to 40 printable ASCII characters and no spaces."
  }
}
