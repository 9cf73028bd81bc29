package simulator

// catalogTemplates returns the service's own templates, numbered by next.
func catalogTemplates(next func() int64) []*template {
	catalog := catalogEntries()
	for _, t := range catalog {
		t.seq, t.owner = next(), ownerCatalog
		if t.ports == nil {
			t.ports = []int64{}
		}
		if t.env == nil {
			t.env = map[string]string{}
		}
	}
	return catalog
}

func catalogEntries() []*template {
	return []*template{
		{
			slug: "ubuntu", name: "Ubuntu 24.04 + CUDA", description: "Plain Ubuntu with the CUDA driver libraries and SSH.",
			image: "nvidia/cuda:12.6.3-base-ubuntu24.04", launchMode: launchSSH, minDiskGB: 10, recommendedDiskGB: 20,
		},
		{
			slug: "cuda-devel", name: "CUDA 12.6 development", description: "The CUDA toolkit with compilers and cuDNN, over SSH.",
			image: "nvidia/cuda:12.6.3-cudnn-devel-ubuntu24.04", launchMode: launchSSH, minDiskGB: 20, recommendedDiskGB: 40,
		},
		{
			slug: "pytorch", name: "PyTorch 2.5", description: "PyTorch with CUDA 12.4 and TensorBoard, over SSH.",
			image: "pytorch/pytorch:2.5.1-cuda12.4-cudnn9-devel", launchMode: launchSSH, ports: []int64{6006},
			labels: map[int64]string{6006: "TensorBoard"}, minDiskGB: 20, recommendedDiskGB: 50,
		},
		{
			slug: "pytorch-jupyter", name: "PyTorch 2.5 + JupyterLab", description: "JupyterLab with PyTorch; SSH as well.",
			image: "quay.io/jupyter/pytorch-notebook:cuda12-python-3.12", launchMode: launchJupyter, ports: []int64{8888, 6006},
			labels: map[int64]string{8888: "JupyterLab", 6006: "TensorBoard"}, minDiskGB: 25, recommendedDiskGB: 60,
		},
		{
			slug: "tensorflow-jupyter", name: "TensorFlow 2.18 + Jupyter", description: "Jupyter with TensorFlow; SSH as well.",
			image: "tensorflow/tensorflow:2.18.0-gpu-jupyter", launchMode: launchJupyter, ports: []int64{8888},
			labels: map[int64]string{8888: "Jupyter"}, minDiskGB: 20, recommendedDiskGB: 40,
		},
		{
			slug: "comfyui", name: "ComfyUI", description: "Node-based image generation in the browser.",
			image: "yanwk/comfyui-boot:cu126-slim", launchMode: launchEntrypoint, ports: []int64{8188},
			labels: map[int64]string{8188: "ComfyUI"}, minDiskGB: 40, recommendedDiskGB: 100,
		},
		{
			slug: "vllm", name: "vLLM server", description: "An OpenAI-compatible inference server.",
			image: "vllm/vllm-openai:v0.6.6", launchMode: launchEntrypoint, ports: []int64{8000},
			labels: map[int64]string{8000: "OpenAI-compatible API"}, env: map[string]string{"HF_HUB_ENABLE_HF_TRANSFER": "1"},
			minDiskGB: 40, recommendedDiskGB: 120,
		},
		{
			slug: "ollama", name: "Ollama + Open WebUI", description: "Local language models with a chat page.",
			image: "ghcr.io/open-webui/open-webui:ollama", launchMode: launchEntrypoint, ports: []int64{8080, 11434},
			labels: map[int64]string{8080: "Open WebUI", 11434: "Ollama API"}, env: map[string]string{"OLLAMA_HOST": "0.0.0.0"},
			minDiskGB: 30, recommendedDiskGB: 80,
		},
		{
			slug: "blender", name: "Blender 4.2 rendering", description: "Headless Blender for Cycles rendering, over SSH.",
			image: "linuxserver/blender:4.2.3", launchMode: launchSSH, minDiskGB: 15, recommendedDiskGB: 30,
			onstart: new("nvidia-smi -L"),
		},
		{
			slug: "custom", name: "Custom image", description: "Any container image of yours, over SSH.",
			image: "ubuntu:24.04", launchMode: launchSSH, minDiskGB: 10, recommendedDiskGB: 20, custom: true,
		},
	}
}
