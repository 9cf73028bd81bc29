# Keys that were issued by hand in the console: candidates for a review.
list "gpurent_api_key" "by_hand" {
  provider = gpurent

  config {
    source = "console"
  }
}
