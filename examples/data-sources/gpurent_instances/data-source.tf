provider "gpurent" {}

# All servers whose names begin with the prefix, including those that Terraform does not manage.
data "gpurent_instances" "research" {
  name_prefix = "research-"
}

output "running" {
  value = [for i in data.gpurent_instances.research.instances : i.name if i.status == "running"]
}

output "rubles_so_far" {
  value = sum(concat([0], data.gpurent_instances.research.instances[*].cost_so_far_kop)) / 100
}
