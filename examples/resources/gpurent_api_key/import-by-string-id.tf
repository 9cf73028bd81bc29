# The service does not tell the secret again: it is null after an import.
import {
  to = gpurent_api_key.ci
  id = "key_0123456789ab"
}
