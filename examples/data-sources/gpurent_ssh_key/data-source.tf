provider "gpurent" {}

# A key that this configuration does not manage.
data "gpurent_ssh_key" "anna" {
  name = "team-anna" # or fingerprint = "SHA256:…"
}

resource "gpurent_instance" "trainer" {
  template        = "ubuntu"
  disk_gb         = 50
  max_price_kop_h = 9000
  ssh_key_ids     = [data.gpurent_ssh_key.anna.id]

  offer_query = {
    gpu = ["rtx_4090"]
  }
}
