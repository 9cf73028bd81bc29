terraform {
  required_version = ">= 1.9" # of Terraform and OpenTofu, for a validation that refers to other variables

  required_providers {
    gpurent = {
      source  = "gpurent/gpurent"
      version = ">= 0.1"
    }
  }
}
