variable "name" {
  description = "Name of the pool. The name of a server is NAME-SERVER."
  type        = string

  validation {
    condition     = can(regex("^[!-~]{1,40}$", var.name))
    error_message = "The name of a pool has 1 to 40 ASCII characters, without spaces."
  }
}

variable "size" {
  description = "Number of servers, with the names 01, 02 and so on. A smaller number destroys the last ones. Not used with names."
  type        = number
  default     = 1

  validation {
    condition     = var.size >= 0 && var.size <= 99 && floor(var.size) == var.size
    error_message = "A pool has 0 to 99 servers. Name them for more."
  }
}

variable "names" {
  description = "Names of the servers, instead of a number. Numbered by default."
  type        = set(string)
  default     = null

  validation {
    condition     = alltrue([for name in coalesce(var.names, []) : can(regex("^[!-~]{1,19}$", name))])
    error_message = "The name of a server has 1 to 19 ASCII characters, without spaces."
  }
}

variable "offer_query" {
  description = "Filters of gpurent_instance.offer_query for the servers. Any server by default. Used only at creation."
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
  description = "on_demand, or interruptible, which is cheaper but can be outbid. A change replaces the servers."
  type        = string
  default     = "on_demand"

  validation {
    condition     = contains(["on_demand", "interruptible"], var.type)
    error_message = "The type is \"on_demand\" or \"interruptible\"."
  }
}

variable "max_price_kop_h" {
  description = "Maximum price of one server in kopecks per hour, without disk beyond the offer's base, for rentals, starts and bids."
  type        = number

  validation {
    condition     = var.max_price_kop_h > 0 && floor(var.max_price_kop_h) == var.max_price_kop_h
    error_message = "The price cap is whole kopecks per hour, more than 0."
  }
}

variable "max_total_kop_h" {
  description = "Maximum price of all servers together, kopecks per hour. A plan fails if the servers may exceed it at max_price_kop_h each; a plan or an apply fails if their real prices, disks included, exceed it. No limit by default."
  type        = number
  default     = null

  validation {
    condition     = var.max_total_kop_h == null ? true : length(local.names) * var.max_price_kop_h <= var.max_total_kop_h
    error_message = "${length(local.names)} servers for up to ${var.max_price_kop_h} kopecks an hour may cost more than max_total_kop_h allows. Rent fewer, lower max_price_kop_h, or raise the limit."
  }
}

variable "template" {
  description = "Slug of the template of the servers. A change replaces them."
  type        = string
  default     = "pytorch"
}

variable "disk_gb" {
  description = "Disk of each server, GB. A change replaces the servers, and their data is lost."
  type        = number
  default     = 60

  validation {
    condition     = var.disk_gb >= 10 && var.disk_gb <= 2000 && floor(var.disk_gb) == var.disk_gb
    error_message = "A disk has 10 to 2000 GB."
  }
}

variable "ssh_key_ids" {
  description = "Ids of up to 10 SSH keys for the servers. All keys of the account by default. Used only at creation."
  type        = set(string)
  default     = null

  validation {
    condition     = length(coalesce(var.ssh_key_ids, [])) <= 10
    error_message = "A server takes up to 10 SSH keys."
  }
}

variable "desired_state" {
  description = "running or stopped. Only the disks of stopped servers are billed."
  type        = string
  default     = "running"

  validation {
    condition     = contains(["running", "stopped"], var.desired_state)
    error_message = "The state is \"running\" or \"stopped\"."
  }
}

variable "on_outbid" {
  description = "Policy for an outbid interruptible server at the next apply: restart, keep or replace."
  type        = string
  default     = "restart"

  validation {
    condition     = contains(["restart", "keep", "replace"], var.on_outbid)
    error_message = "The policy is \"restart\", \"keep\" or \"replace\"."
  }
}

variable "idempotency_key_prefix" {
  description = "Prefix of the servers' idempotency keys, which must be unique in the account. The pool's name by default."
  type        = string
  default     = null

  validation {
    condition     = var.idempotency_key_prefix == null ? true : can(regex("^[!-~]{1,40}$", var.idempotency_key_prefix))
    error_message = "The prefix of a key has 1 to 40 ASCII characters, without spaces."
  }
}
