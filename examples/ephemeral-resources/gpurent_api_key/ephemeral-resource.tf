provider "gpurent" {}

# A key for part of the configuration, with only the scopes that this part needs.
ephemeral "gpurent_api_key" "servers" {
  name   = "servers of this run"
  scopes = ["instances:read", "instances:write", "user:read"]
}

provider "gpurent" {
  alias   = "servers"
  api_key = ephemeral.gpurent_api_key.servers.secret
}

resource "gpurent_template" "training" {
  provider = gpurent.servers

  name  = "Training"
  image = "ubuntu:24.04"
}
