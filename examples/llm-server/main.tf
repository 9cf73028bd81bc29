# A language model with the API of OpenAI on a rented GPU: vLLM, from your template.

terraform {
  required_version = ">= 1.11"

  required_providers {
    gpurent = {
      source  = "gpurent/gpurent"
      version = ">= 0.1"
    }
  }
}

provider "gpurent" {
  poll_interval = var.poll_interval
}

# The token is in env, because vLLM reads it there, and the API has no other place for it.
# Everyone with a key of the account can read env, and it is in the state.
resource "gpurent_template" "llm" {
  name        = "LLM server"
  description = "vLLM with the API of OpenAI on port 8000"
  image       = "vllm/vllm-openai:v0.11.0"
  ports       = [8000]
  min_disk_gb = 40 # GB, for the image and a small model

  env = {
    HF_HOME      = "/workspace/models" # on the disk, which a stopped server keeps
    VLLM_API_KEY = var.token
  }

  # Runs at each start, if the service runs onstart again, in the background. Its output is in the startup log.
  onstart = "nohup vllm serve ${var.model} --port 8000 --max-model-len ${var.max_model_len} &"

  # A new template is created before the old one is deleted.
  lifecycle {
    create_before_destroy = true
  }
}

resource "gpurent_ssh_key" "me" {
  name       = "llm-server"
  public_key = file(pathexpand(var.public_key_file))
}

resource "gpurent_instance" "llm" {
  name            = "llm-server"
  template        = gpurent_template.llm.slug
  disk_gb         = var.disk_gb
  max_price_kop_h = var.max_price_kop_h
  ssh_key_ids     = [gpurent_ssh_key.me.id]
  desired_state   = var.running ? "running" : "stopped"

  offer_query = {
    gpu                = [var.gpu]
    num_gpus           = [1]
    min_inet_down_mbps = 200 # the first start downloads the image and the model
  }

  # vLLM answers when the model is loaded.
  ready_when = { urls_reachable = true }
  timeouts   = { create = "1h", update = "30m" }
}
