variable "name" {
  description = "Name of the pool. A server is called NAME-SERVER."
  type        = string

  validation {
    condition     = can(regex("^[!-~]{1,40}$", var.name))
    error_message = "The name of a pool has 1 to 40 ASCII characters, without spaces."
  }
}

variable "size" {
  description = "Number of servers, called 01, 02 and so on. The last ones go first. Not used with names."
  type        = number
  default     = 1

  validation {
    condition     = var.size >= 0 && var.size <= 99 && floor(var.size) == var.size
    error_message = "A pool has 0 to 99 servers. Name them for more."
  }
}

variable "names" {
  description = "Names of the servers, instead of a number: then you choose which ones go. Numbered by default."
  type        = set(string)
  default     = null

  validation {
    condition     = alltrue([for name in coalesce(var.names, []) : can(regex("^[!-~]{1,19}$", name))])
    error_message = "The name of a server has 1 to 19 ASCII characters, without spaces."
  }
}

variable "offer_query" {
  description = "What kind of server to rent, in the filters of gpurent_instance.offer_query. Any by default. It acts when a server is rented."
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
  description = "on_demand, or interruptible: cheaper, and taken away when the market passes the bid. A change replaces the servers."
  type        = string
  default     = "on_demand"

  validation {
    condition     = contains(["on_demand", "interruptible"], var.type)
    error_message = "The type is \"on_demand\" or \"interruptible\"."
  }
}

variable "max_price_kop_h" {
  description = "Most that one server may cost, kopecks per hour, before disk beyond the offer's base. It caps rentals, starts and bids."
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
  description = "Slug of the template that the servers start from. A change replaces them."
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
  description = "Ids of the SSH keys that open the servers, up to 10. All of the account's by default. It acts when a server is rented."
  type        = set(string)
  default     = null

  validation {
    condition     = length(coalesce(var.ssh_key_ids, [])) <= 10
    error_message = "A server takes up to 10 SSH keys."
  }
}

variable "desired_state" {
  description = "running, or stopped: a pool parked for the night keeps its disks, and only they are billed."
  type        = string
  default     = "running"

  validation {
    condition     = contains(["running", "stopped"], var.desired_state)
    error_message = "The state is \"running\" or \"stopped\"."
  }
}

variable "on_outbid" {
  description = "What the next apply does about an interruptible server that was outbid: restart, keep or replace."
  type        = string
  default     = "restart"

  validation {
    condition     = contains(["restart", "keep", "replace"], var.on_outbid)
    error_message = "The policy is \"restart\", \"keep\" or \"replace\"."
  }
}

variable "idempotency_key_prefix" {
  description = "What the servers' idempotency keys begin with: different for each pool in the account. The pool's name by default."
  type        = string
  default     = null

  validation {
    condition     = var.idempotency_key_prefix == null ? true : can(regex("^[!-~]{1,40}$", var.idempotency_key_prefix))
    error_message = "The prefix of a key has 1 to 40 ASCII characters, without spaces."
  }
}
