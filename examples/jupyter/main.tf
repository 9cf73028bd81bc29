# A notebook in the browser, on a GPU server with your own template. It is stopped
# when nobody needs it.

terraform {
  required_version = ">= 1.0"

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

  # Whoever has a key of the account can read this: no passwords, no tokens.
  env = {
    HF_HOME = "/workspace/cache"
  }

  # The next template is there before this one goes.
  lifecycle {
    create_before_destroy = true
  }
}

resource "gpurent_instance" "notebook" {
  name            = "notebook"
  template        = gpurent_template.notebook.slug
  disk_gb         = var.disk_gb
  max_price_kop_h = var.max_price_kop_h
  idempotency_key = "notebook"

  # Somebody waits for the answer: a price that nobody can pass.
  type = "on_demand"

  offer_query = {
    gpu      = [var.gpu]
    num_gpus = [1]
  }

  desired_state = var.running ? "running" : "stopped"
}
