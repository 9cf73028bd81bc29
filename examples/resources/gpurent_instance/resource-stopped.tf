provider "gpurent" {}

# A server that keeps its disk and is not running. Only the disk is billed.
resource "gpurent_instance" "notebook" {
  name            = "notebook"
  template        = "pytorch-jupyter"
  disk_gb         = 80
  max_price_kop_h = 9000
  desired_state   = "stopped"
  offer_query     = { gpu = ["rtx_4090"], num_gpus = [1] }
}
