# Run it with: terraform apply -invoke=action.gpurent_instance_start.morning
action "gpurent_instance_start" "morning" {
  config {
    instance_id     = gpurent_instance.trainer.id
    max_price_kop_h = gpurent_instance.trainer.max_price_kop_h
    timeout         = "1h"
  }
}
