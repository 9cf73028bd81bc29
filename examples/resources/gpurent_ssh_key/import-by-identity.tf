import {
  to = gpurent_ssh_key.me
  identity = {
    id = "ssh_0123456789ab"
  }
}
