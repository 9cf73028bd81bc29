provider "gpurent" {}

data "gpurent_api_keys" "all" {}

# Keys that have not been used for 90 days and could be revoked.
output "unused_keys" {
  value = [
    for k in data.gpurent_api_keys.all.api_keys : k.name
    if timecmp(coalesce(k.last_used_at, k.created_at), timeadd(plantimestamp(), "-2160h")) < 0
  ]
}
