# The configured public_key is adopted if its fingerprint is the imported one.
terraform import gpurent_ssh_key.laptop ssh_0123456789ab
