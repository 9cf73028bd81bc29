package simulator

// catalogTemplates returns the templates of the catalog. The function next numbers them.
func catalogTemplates(next func() int64) []*template {
	catalog := catalogEntries()
	for _, t := range catalog {
		t.Seq, t.Owner = next(), ownerCatalog
		if t.Ports == nil {
			t.Ports = []int64{}
		}
		if t.Env == nil {
			t.Env = map[string]string{}
		}
	}
	return catalog
}

func catalogEntries() []*template {
	return []*template{
		{
			Slug: "ubuntu", Name: "Ubuntu 24.04 + CUDA", LaunchMode: launchSSH, MinDiskGB: 10, RecommendedDiskGB: 20,
			Description: "Plain Ubuntu with the CUDA driver libraries and SSH.",
			Image:       "nvidia/cuda:12.6.3-base-ubuntu24.04",
		},
		{
			Slug: "cuda-devel", Name: "CUDA 12.6 development", LaunchMode: launchSSH,
			MinDiskGB: 20, RecommendedDiskGB: 40,
			Description: "The CUDA toolkit with compilers and cuDNN, over SSH.",
			Image:       "nvidia/cuda:12.6.3-cudnn-devel-ubuntu24.04",
		},
		{
			Slug: "pytorch", Name: "PyTorch 2.5", Description: "PyTorch with CUDA 12.4 and TensorBoard, over SSH.",
			Image: "pytorch/pytorch:2.5.1-cuda12.4-cudnn9-devel", LaunchMode: launchSSH, Ports: []int64{6006},
			Labels: map[int64]string{6006: "TensorBoard"}, MinDiskGB: 20, RecommendedDiskGB: 50,
		},
		{
			Slug: "pytorch-jupyter", Name: "PyTorch 2.5 + JupyterLab",
			Description: "JupyterLab with PyTorch; SSH as well.",
			Image:       "quay.io/jupyter/pytorch-notebook:cuda12-python-3.12", LaunchMode: launchJupyter,
			Ports:  []int64{8888, 6006},
			Labels: map[int64]string{8888: "JupyterLab", 6006: "TensorBoard"}, MinDiskGB: 25, RecommendedDiskGB: 60,
		},
		{
			Slug: "tensorflow-jupyter", Name: "TensorFlow 2.18 + Jupyter",
			Description: "Jupyter with TensorFlow; SSH as well.",
			Image:       "tensorflow/tensorflow:2.18.0-gpu-jupyter", LaunchMode: launchJupyter, Ports: []int64{8888},
			Labels: map[int64]string{8888: "Jupyter"}, MinDiskGB: 20, RecommendedDiskGB: 40,
		},
		{
			Slug: "comfyui", Name: "ComfyUI", Description: "Node-based image generation in the browser.",
			Image: "yanwk/comfyui-boot:cu126-slim", LaunchMode: launchEntrypoint, Ports: []int64{8188},
			Labels: map[int64]string{8188: "ComfyUI"}, MinDiskGB: 40, RecommendedDiskGB: 100,
		},
		{
			Slug: "vllm", Name: "vLLM server", Description: "An OpenAI-compatible inference server.",
			Image: "vllm/vllm-openai:v0.6.6", LaunchMode: launchEntrypoint, Ports: []int64{8000},
			Labels:    map[int64]string{8000: "OpenAI-compatible API"},
			Env:       map[string]string{"HF_HUB_ENABLE_HF_TRANSFER": "1"},
			MinDiskGB: 40, RecommendedDiskGB: 120,
		},
		{
			Slug: "ollama", Name: "Ollama + Open WebUI", Description: "Local language models with a chat page.",
			Image: "ghcr.io/open-webui/open-webui:ollama", LaunchMode: launchEntrypoint, Ports: []int64{8080, 11434},
			Labels:    map[int64]string{8080: "Open WebUI", 11434: "Ollama API"},
			Env:       map[string]string{"OLLAMA_HOST": "0.0.0.0"},
			MinDiskGB: 30, RecommendedDiskGB: 80,
		},
		{
			Slug: "blender", Name: "Blender 4.2 rendering",
			Description: "Headless Blender for Cycles rendering, over SSH.",
			Image:       "linuxserver/blender:4.2.3", LaunchMode: launchSSH, MinDiskGB: 15, RecommendedDiskGB: 30,
			Onstart: new("nvidia-smi -L"),
		},
		{
			Slug: "custom", Name: "Custom image", Description: "Any container image of yours, over SSH.",
			Image: "ubuntu:24.04", LaunchMode: launchSSH, MinDiskGB: 10, RecommendedDiskGB: 20, Custom: true,
		},
	}
}
