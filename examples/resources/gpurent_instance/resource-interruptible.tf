# A server that can be outbid. The next apply places a new bid, for at most 30 rubles per hour.
resource "gpurent_instance" "batch" {
  name            = "batch"
  template        = "pytorch"
  disk_gb         = 60
  type            = "interruptible"
  max_price_kop_h = 3000
  on_outbid       = "restart"
  idempotency_key = "batch"
  offer_query     = { min_vram_gb = 24 }
}
