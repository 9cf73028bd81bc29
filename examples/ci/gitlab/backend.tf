# The state, in GitLab itself, with its versions and its lock. Address and
# credentials are in the TF_HTTP_… variables of .gitlab-ci.yml.

terraform {
  backend "http" {}
}
