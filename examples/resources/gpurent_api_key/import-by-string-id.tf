# The secret is null after an import, because the API returns it only once.
import {
  to = gpurent_api_key.ci
  id = "key_0123456789ab"
}
