provider "gpurent" {}

# The ten cheapest interruptible servers with at least 40 GB of VRAM per GPU in
# two countries, for at most 300 rubles an hour.
data "gpurent_offers" "spot" {
  type            = "interruptible"
  min_vram_gb     = 40
  country         = ["DE", "NL"]
  max_price_kop_h = 30000
  max_results     = 10
}

output "spot" {
  value = [for o in data.gpurent_offers.spot.offers : "${o.gpu.count} x ${o.gpu.name} (${coalesce(o.country, "?")}): ${o.price.interruptible_kop_h / 100} rubles an hour"]
}
