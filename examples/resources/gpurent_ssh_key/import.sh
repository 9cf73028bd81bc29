# The fingerprint of the configured public_key must be that of the imported key.
terraform import gpurent_ssh_key.me ssh_0123456789ab
