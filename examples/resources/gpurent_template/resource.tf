provider "gpurent" {}

resource "gpurent_template" "trainer" {
  name        = "Trainer"
  description = "PyTorch with a TensorBoard on port 6006"
  image       = "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"
  launch_mode = "ssh"
  ports       = [6006]
  env = {
    HF_HOME = "/workspace/cache"
  }
  onstart             = "pip install -q tensorboard && tensorboard --logdir /workspace/runs --port 6006 &"
  min_disk_gb         = 40  # GB
  recommended_disk_gb = 100 # GB
}
