provider "gpurent" {}

data "gpurent_balance" "now" {}

output "rubles_available" {
  value = data.gpurent_balance.now.available_kop / 100
}
