import {
  to = gpurent_ssh_key.laptop
  identity = {
    id = "ssh_0123456789ab"
  }
}
