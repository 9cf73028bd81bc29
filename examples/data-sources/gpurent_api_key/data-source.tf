provider "gpurent" {}

data "gpurent_api_key" "ci" {
  name = "ci" # or prefix = "…"
}

# Shows a warning in every plan and apply from two weeks before the expiry.
check "ci_key" {
  assert {
    condition     = try(timecmp(data.gpurent_api_key.ci.expires_at, timeadd(plantimestamp(), "336h")) > 0, true)
    error_message = "The API key ci expires at ${coalesce(data.gpurent_api_key.ci.expires_at, "no time")}."
  }
}

output "last_used_at" {
  value = data.gpurent_api_key.ci.last_used_at
}
