provider "gpurent" {}

# A key for a pipeline that rents servers and cannot issue keys. An apply replaces
# the key when less than 14 of its 90 days are left.
resource "gpurent_api_key" "ci" {
  name               = "ci"
  scopes             = ["instances:read", "instances:write", "user:read"]
  expires_in_days    = 90
  rotate_before_days = 14

  lifecycle {
    create_before_destroy = true
  }
}
