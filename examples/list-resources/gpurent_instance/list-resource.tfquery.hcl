# All running servers with their attributes, including those that Terraform does
# not manage.
# With -generate-config-out=found.tf the query also writes resource and import
# blocks.
list "gpurent_instance" "running" {
  provider         = gpurent
  include_resource = true
  limit            = 500

  config {
    status = ["running"]
  }
}
