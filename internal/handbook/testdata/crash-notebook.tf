variable "create_timeout" {
  type    = string
  default = "30m"
}

resource "gpurent_instance" "notebook" {
  name            = "notebook"
  template        = "pytorch"
  disk_gb         = 60
  max_price_kop_h = 9000
  offer_query     = { min_vram_gb = 24 }
  timeouts        = { create = var.create_timeout }
}
