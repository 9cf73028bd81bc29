provider "gpurent" {}

# A change of the template, the disk, the type or the image replaces two members at a time.
resource "gpurent_fleet" "serve" {
  name            = "serve"
  size            = 4
  template        = "custom"
  image           = "registry.example/team/service:1.2"
  disk_gb         = 40
  max_price_kop_h = 6000
  offer_queries   = [{ gpu = ["rtx_3090"], num_gpus = [1] }]

  update          = "rolling"
  max_unavailable = 2
}
