# Run it with: terraform apply -invoke=action.gpurent_instance_start.morning
action "gpurent_instance_start" "morning" {
  config {
    instance_id = gpurent_instance.trainer.id
    timeout     = "1h"
  }
}
