resource "gpurent_instance" "worker" {
  for_each = toset(["worker-1", "worker-2", "worker-3"])

  name            = each.key
  template        = "pytorch"
  disk_gb         = 60
  offer_query     = { gpu = ["rtx_4090"], num_gpus = [1] }
  max_price_kop_h = 9000
  idempotency_key = each.key
}
