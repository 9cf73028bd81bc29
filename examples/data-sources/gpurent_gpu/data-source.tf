provider "gpurent" {}

data "gpurent_gpu" "rtx_4090" {
  slug = "rtx_4090"
}

# Shows a warning in every plan and apply while no such GPU is available.
check "rtx_4090" {
  assert {
    condition     = data.gpurent_gpu.rtx_4090.available_gpus > 0
    error_message = "No ${data.gpurent_gpu.rtx_4090.name} is available now."
  }
}

output "vram_gb" {
  value = data.gpurent_gpu.rtx_4090.vram_gb
}
