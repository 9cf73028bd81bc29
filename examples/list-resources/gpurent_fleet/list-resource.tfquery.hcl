# All fleets whose names begin with "train", with the attributes of their members.
# With -generate-config-out=found.tf the query also writes resource and import
# blocks.
list "gpurent_fleet" "train" {
  provider         = gpurent
  include_resource = true

  config {
    name_prefix = "train"
  }
}
