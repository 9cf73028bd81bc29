# Run it with: terraform apply -invoke=action.gpurent_instance_stop.night
action "gpurent_instance_stop" "night" {
  config {
    instance_id = gpurent_instance.trainer.id
  }
}
