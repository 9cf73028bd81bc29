provider "gpurent" {}

data "gpurent_templates" "catalog" {
  owner = "catalog"
}

output "jupyter_templates" {
  value = [for t in data.gpurent_templates.catalog.templates : t.slug if t.launch_mode == "jupyter"]
}
