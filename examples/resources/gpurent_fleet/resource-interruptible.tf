# Five servers that can be outbid. The apply succeeds from four ready ones on, and the next one continues.
resource "gpurent_fleet" "batch" {
  name            = "batch"
  size            = 5
  template        = "pytorch"
  disk_gb         = 60
  type            = "interruptible"
  max_price_kop_h = 3000
  min_ready       = 4
  on_outbid       = "restart"
  shrink          = "most_expensive"
  offer_queries   = [{ min_vram_gb = 16 }]
}
