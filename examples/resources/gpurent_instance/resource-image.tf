provider "gpurent" {}

# Any container image, with the template "custom".
resource "gpurent_instance" "service" {
  name            = "service"
  template        = "custom"
  image           = "registry.example/team/service:1.2"
  disk_gb         = 40
  max_price_kop_h = 6000
  ssh_key_ids     = [] # no login
  offer_query     = { gpu = ["rtx_3090"], num_gpus = [1] }
}
