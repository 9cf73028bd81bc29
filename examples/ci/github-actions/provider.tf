# The credentials of the pipeline. The address and the API key come from
# GPURENT_BASE_URL and GPURENT_API_KEY.

variable "run_key" {
  description = "Name of the API key that is issued for this run. Null for a plan, which uses the key of the pipeline."
  type        = string
  default     = null
}

variable "poll_interval" {
  description = "Initial interval between two polls of a server that is starting or stopping."
  type        = string
  default     = "5s"
}

# Uses the key of the pipeline, only to issue the key of the run.
provider "gpurent" {
  alias = "pipeline"
}

# The key of the run can rent servers, but cannot issue keys or change the account.
# It is not stored in a state or a plan, and is revoked at the end of the run.
ephemeral "gpurent_api_key" "run" {
  count    = var.run_key == null ? 0 : 1
  provider = gpurent.pipeline

  name   = var.run_key
  scopes = ["instances:read", "instances:write", "billing:read", "user:read"]
}

provider "gpurent" {
  api_key       = one(ephemeral.gpurent_api_key.run[*].secret)
  poll_interval = var.poll_interval

  spending = {
    max_burn_kop_h = 30000   # 300 rubles per hour for the whole account
    require_funds  = "error" # a warning would not stop the pipeline
  }
}
