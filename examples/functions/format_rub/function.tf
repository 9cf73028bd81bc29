# Returns "1,234.56 ₽".
output "price" {
  value = provider::gpurent::format_rub(123456)
}
