# The id of the instance in the service's console and in the API.
terraform import gpurent_instance.trainer ins_0123456789ab
