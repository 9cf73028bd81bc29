# Own templates of the account whose names begin with "training".
list "gpurent_template" "training" {
  provider = gpurent

  config {
    name_prefix = "training"
  }
}
