# Keys that were issued in the service's console.
list "gpurent_api_key" "by_hand" {
  provider = gpurent

  config {
    source = "console"
  }
}
