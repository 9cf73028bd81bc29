provider "gpurent" {}

data "gpurent_ssh_keys" "all" {}

# For the ssh_key_ids of an instance that the whole team can log in to, but no pipeline.
output "team_key_ids" {
  value = [for k in data.gpurent_ssh_keys.all.ssh_keys : k.id if startswith(k.name, "team-")]
}
