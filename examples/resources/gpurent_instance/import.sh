# The id is in the console's address bar, and in the listing of the API.
terraform import gpurent_instance.trainer ins_0123456789
