provider "gpurent" {}

data "gpurent_gpus" "all" {}

# Datacenter models that are available now.
output "available" {
  value = [for g in data.gpurent_gpus.all.gpus : g.slug if g.tier == "datacenter" && g.available_gpus > 0]
}
