import {
  to = gpurent_fleet.train
  identity = {
    id = "train"
  }
}
