# All servers with their attributes, including those that Terraform does not
# manage.
# With -generate-config-out=found.tf the query also writes resource and import
# blocks.
list "gpurent_instance" "all" {
  provider         = gpurent
  include_resource = true
  limit            = 500
}
