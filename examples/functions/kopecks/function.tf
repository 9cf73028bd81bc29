# Prices are kopecks per hour, and people think in rubles: this is 9050.
output "max_price_kop_h" {
  value = provider::gpurent::kopecks("90,50 ₽")
}
