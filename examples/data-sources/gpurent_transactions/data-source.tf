provider "gpurent" {}

# The last 500 charges for servers and traffic.
data "gpurent_transactions" "spent" {
  types       = ["usage", "bandwidth"]
  max_results = 500
}

locals {
  spent_kop = { for t in data.gpurent_transactions.spent.transactions : t.instance_id => t.amount_kop... }
}

# Debits are negative.
output "rubles_by_instance" {
  value = { for id, amounts in local.spent_kop : id => - sum(amounts) / 100 }
}
