terraform import gpurent_template.trainer tpl-0123456789
