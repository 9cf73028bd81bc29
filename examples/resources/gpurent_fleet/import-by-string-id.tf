# The name of the fleet: the names of its members without the number.
import {
  to = gpurent_fleet.train
  id = "train"
}
