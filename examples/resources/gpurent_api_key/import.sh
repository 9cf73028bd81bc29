# The service does not tell the secret again: it is null after an import.
terraform import gpurent_api_key.ci key_0123456789ab
