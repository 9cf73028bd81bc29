# The fingerprint of the configured public_key must be that of the imported key.
import {
  to = gpurent_ssh_key.me
  id = "ssh_0123456789ab"
}
