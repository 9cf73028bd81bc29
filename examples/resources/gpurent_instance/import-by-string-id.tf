# The id is what the service's console and API call the instance's id.
import {
  to = gpurent_instance.trainer
  id = "ins_0123456789ab"
}
