list "gpurent_template" "own" {
  provider = gpurent
}
