list "gpurent_ssh_key" "all" {
  provider = gpurent
}
