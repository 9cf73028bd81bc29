provider "gpurent" {}

variable "offer_id" {
  description = "Id of the offer to rent."
  type        = string
}

data "gpurent_offer" "picked" {
  id = var.offer_id
}

output "picked" {
  value = {
    server       = "${data.gpurent_offer.picked.gpu.count} x ${data.gpurent_offer.picked.gpu.name}"
    available    = data.gpurent_offer.picked.available
    rubles_per_h = data.gpurent_offer.picked.price.on_demand_kop_h / 100
  }
}
