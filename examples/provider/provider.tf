terraform {
  required_providers {
    gpurent = {
      source = "gpurent/gpurent"
    }
  }
}

# The key comes from GPURENT_API_KEY: it has no place in a file.
provider "gpurent" {
  base_url = "https://rent.example/api/v1"
}
