provider "gpurent" {}

data "gpurent_instance" "shared" {
  name = "shared"
}

data "gpurent_instance_logs" "shared" {
  instance_id = data.gpurent_instance.shared.id
  tail        = 20
}

output "log" {
  value = join("\n", data.gpurent_instance_logs.shared.lines)
}
