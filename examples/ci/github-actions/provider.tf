# Who the pipeline is for the service. Address and key come from GPURENT_BASE_URL
# and GPURENT_API_KEY.

variable "run_key" {
  description = "Name of the key that the run issues for itself. Null where nothing is applied: the pipeline's own key is enough to plan."
  type        = string
  default     = null
}

variable "poll_interval" {
  description = "First pause between two looks at a server that is starting or stopping."
  type        = string
  default     = "5s"
}

# With the key of the pipeline. It only issues the run's key.
provider "gpurent" {
  alias = "pipeline"
}

# It can rent, and can neither issue keys nor change the account. It is in no state
# and no plan, and revoked when the run ends, however it ends.
ephemeral "gpurent_api_key" "run" {
  count    = var.run_key == null ? 0 : 1
  provider = gpurent.pipeline

  name   = var.run_key
  scopes = ["instances:read", "instances:write", "billing:read"]
}

provider "gpurent" {
  api_key       = one(ephemeral.gpurent_api_key.run[*].secret)
  poll_interval = var.poll_interval

  spending = {
    max_burn_kop_h = 30000   # 300 rubles an hour for the whole account
    require_funds  = "error" # nobody reads warnings in a pipeline
  }
}
