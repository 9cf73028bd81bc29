variable "token" {
  description = "Token that clients of the server send. Everyone with a key of the account can read it."
  type        = string
  sensitive   = true

  validation {
    condition     = length(var.token) >= 32
    error_message = "The token must have at least 32 characters."
  }
}

variable "model" {
  description = "Model on Hugging Face that needs no login there, and fits into the VRAM of the GPU."
  type        = string
  default     = "Qwen/Qwen2.5-7B-Instruct"
}

variable "max_model_len" {
  description = "Maximum number of tokens of a request and its response. More tokens need more VRAM."
  type        = number
  default     = 8192
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

variable "disk_gb" {
  description = "Disk in GB. A change replaces the server, and the data on the disk is lost."
  type        = number
  default     = 80
}

variable "running" {
  description = "Whether the server runs. A stopped server keeps its disk, and only the disk is billed."
  type        = bool
  default     = true
}

variable "public_key_file" {
  description = "Path of the file with your public SSH key. You log in to the server with the matching private key."
  type        = string
  default     = "~/.ssh/id_ed25519.pub"
}

variable "poll_interval" {
  description = "Initial interval between two polls of a server that is starting or stopping."
  type        = string
  default     = "5s"
}
