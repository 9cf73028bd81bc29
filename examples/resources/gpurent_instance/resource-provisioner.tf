provider "gpurent" {}

resource "gpurent_ssh_key" "me" {
  name       = "me"
  public_key = file("~/.ssh/id_ed25519.pub")
}

resource "gpurent_instance" "worker" {
  name            = "worker"
  template        = "pytorch"
  disk_gb         = 60
  max_price_kop_h = 9000
  ssh_key_ids     = [gpurent_ssh_key.me.id]
  offer_query     = { gpu = ["rtx_4090"], num_gpus = [1] }
}

# Runs commands on the server after its creation. If they fail, only terraform_data is tainted, not the server.
resource "terraform_data" "setup" {
  triggers_replace = gpurent_instance.worker.id

  connection {
    host        = gpurent_instance.worker.ssh.host
    port        = gpurent_instance.worker.ssh.port
    user        = gpurent_instance.worker.ssh.user
    private_key = file("~/.ssh/id_ed25519")
  }

  provisioner "remote-exec" {
    inline = ["nvidia-smi"]
  }
}
