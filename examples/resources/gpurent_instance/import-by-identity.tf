import {
  to = gpurent_instance.trainer
  identity = {
    id = "ins_0123456789ab"
  }
}
