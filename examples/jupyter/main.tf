# A Jupyter notebook on a GPU server, from your template. The variable "running"
# stops and starts the server.

terraform {
  required_version = ">= 1.11"

  required_providers {
    gpurent = {
      source  = "gpurent/gpurent"
      version = ">= 0.1"
    }
  }
}

provider "gpurent" {
  poll_interval = var.poll_interval
}

resource "gpurent_template" "notebook" {
  name                = "Notebook"
  description         = "JupyterLab with PyTorch, and TensorBoard on port 6006"
  image               = "quay.io/jupyter/pytorch-notebook:cuda12-python-3.12"
  launch_mode         = "jupyter"
  ports               = [8888, 6006] # JupyterLab, TensorBoard
  min_disk_gb         = 25
  recommended_disk_gb = 60

  # Every API key of the account can read env: no passwords and no tokens here.
  env = {
    HF_HOME = "/workspace/cache"
  }

  # A new template is created before the old one is deleted.
  lifecycle {
    create_before_destroy = true
  }
}

resource "gpurent_ssh_key" "me" {
  name       = "me"
  public_key = file(var.public_key_file)
}

resource "gpurent_instance" "notebook" {
  name            = "notebook"
  template        = gpurent_template.notebook.slug
  disk_gb         = var.disk_gb
  max_price_kop_h = var.max_price_kop_h
  ssh_key_ids     = [gpurent_ssh_key.me.id]

  # An interruptible server could be outbid during the work.
  type = "on_demand"

  offer_query = {
    gpu      = [var.gpu]
    num_gpus = [1]
  }

  desired_state = var.running ? "running" : "stopped"
}
