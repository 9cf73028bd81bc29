# Restarts the server after each change of the model.
action "gpurent_instance_restart" "trainer" {
  config {
    instance_id = gpurent_instance.trainer.id
  }
}

resource "terraform_data" "model" {
  input = "llama-3.1-8b"

  lifecycle {
    action_trigger {
      events  = [after_update]
      actions = [action.gpurent_instance_restart.trainer]
    }
  }
}
