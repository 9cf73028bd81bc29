# Stores the state in GitLab, with versions and a lock. The TF_HTTP_… variables in
# .gitlab-ci.yml contain the address and the credentials.

terraform {
  backend "http" {}
}
