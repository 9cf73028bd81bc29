# A price in kopecks from a text in rubles. Returns 9050.
output "max_price_kop_h" {
  value = provider::gpurent::kopecks("90,50 ₽")
}
