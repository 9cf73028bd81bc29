terraform {
  required_version = ">= 1.9" # of Terraform and of OpenTofu: a validation refers to several variables

  required_providers {
    gpurent = {
      source  = "gpurent/gpurent"
      version = ">= 0.1"
    }
  }
}
