# All servers that run, whoever rented them, with what they cost an hour.
# With -generate-config-out=found.tf the query also writes resources and imports.
list "gpurent_instance" "running" {
  provider         = gpurent
  include_resource = true
  limit            = 500

  config {
    status = ["running"]
  }
}
