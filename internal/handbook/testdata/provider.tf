terraform {
  required_providers {
    gpurent = { source = "gpurent/gpurent" }
  }
}

provider "gpurent" {
  poll_interval = "200ms"
}
