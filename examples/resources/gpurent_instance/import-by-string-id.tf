# The id of the instance in the service's console and in the API.
import {
  to = gpurent_instance.trainer
  id = "ins_0123456789ab"
}
