list "gpurent_api_key" "all" {
  provider = gpurent
}
