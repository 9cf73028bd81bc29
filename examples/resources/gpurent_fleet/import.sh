# The name of the fleet: the names of its members without the number.
terraform import gpurent_fleet.train train
