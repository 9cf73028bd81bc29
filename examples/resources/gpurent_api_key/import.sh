# The secret is null after an import, because the API returns it only once.
terraform import gpurent_api_key.ci key_0123456789ab
