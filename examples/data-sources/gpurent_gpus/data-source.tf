data "gpurent_gpus" "all" {}

# Datacenter models of which something is available now.
output "available" {
  value = [for g in data.gpurent_gpus.all.gpus : g.slug if g.tier == "datacenter" && g.available_gpus > 0]
}
