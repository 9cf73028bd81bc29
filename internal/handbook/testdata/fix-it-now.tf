resource "gpurent_instance" "server" {
  for_each        = toset(["1", "2"])
  name            = each.key
  template        = "pytorch"
  disk_gb         = 60
  max_price_kop_h = 12000
  offer_query     = { min_vram_gb = 24 }
}
