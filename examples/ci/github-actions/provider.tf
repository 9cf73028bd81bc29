# The address and the API key come from GPURENT_BASE_URL and GPURENT_API_KEY.

provider "gpurent" {
  # With this prefix, the next apply finds the servers of a killed run. Use another one in each state.
  idempotency_prefix = "research/"

  spending = {
    max_burn_kop_h = 30000   # 300 rubles per hour for the whole account
    require_funds  = "error" # a warning would not stop the pipeline
  }
}
