# The configured public_key is adopted if its fingerprint is the imported one.
import {
  to = gpurent_ssh_key.laptop
  id = "ssh_0123456789ab"
}
