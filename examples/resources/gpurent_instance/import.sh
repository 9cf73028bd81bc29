# The id is what the service's console and API call the instance's id.
terraform import gpurent_instance.trainer ins_0123456789ab
