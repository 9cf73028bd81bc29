variable "name" {
  description = "Name of the job, of its server and template, and idempotency key. Two runs at the same time need two names."
  type        = string
  default     = "batch-job"
}

variable "token" {
  description = "Part of the address of the result. run.sh sets a new one for each run."
  type        = string
  sensitive   = true
}

variable "max_duration" {
  description = "Maximum time from the rental to the end of the job, as a Go duration. Then the apply fails."
  type        = string
  default     = "2h"
}

variable "gpu" {
  description = "Slug of the GPU model, from the data source gpurent_gpus."
  type        = string
  default     = "rtx_4090"
}

variable "max_price_kop_h" {
  description = "Maximum price of the server in kopecks per hour."
  type        = number
  default     = 9000 # 90 rubles
}

variable "public_key" {
  description = "Your public SSH key, to log in while the job runs. By default, no key is attached."
  type        = string
  default     = null
}

variable "poll_interval" {
  description = "Initial interval between two polls of the server and its log."
  type        = string
  default     = "5s"
}
