# The price of a server per month, at 90 rubles per hour: 6570000 kopecks, or
# "65 700,00 ₽".
output "month_kop" {
  value = provider::gpurent::monthly_kop(9000)
}

output "month" {
  value = provider::gpurent::format_rub(provider::gpurent::monthly_kop(9000))
}
