import {
  to = gpurent_api_key.ci
  identity = {
    id = "key_0123456789ab"
  }
}
