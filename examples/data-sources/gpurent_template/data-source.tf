provider "gpurent" {}

data "gpurent_template" "pytorch" {
  slug = "pytorch" # or name = "PyTorch 2.5"
}

resource "gpurent_ssh_key" "me" {
  name       = "me"
  public_key = file("~/.ssh/id_ed25519.pub")
}

resource "gpurent_instance" "trainer" {
  template        = data.gpurent_template.pytorch.slug
  disk_gb         = data.gpurent_template.pytorch.recommended_disk_gb + 100 # 100 GB for data
  max_price_kop_h = 9000
  ssh_key_ids     = [gpurent_ssh_key.me.id]

  offer_query = {
    gpu = ["rtx_4090"]
  }
}

output "image" {
  value = data.gpurent_template.pytorch.image
}
