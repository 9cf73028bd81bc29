package quirks

import (
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// respellImages implements image-spelling. The spelling of an item does not change.
func (res *response) respellImages() {
	for _, item := range res.items() {
		if image, ok := item["image"].(string); ok && (res.schema == "Instance" || res.schema == "Template") {
			item["image"] = respellImage(image, res.randomInt(2, imageSpelling, identifier(item)))
		}
	}
}

// respellImage returns another spelling of a Docker Hub image. Images of other registries have only one spelling.
func respellImage(image string, choice int) string {
	host, path, slash := strings.Cut(image, "/")
	switch {
	case image == "":
		return image
	case !slash:
		path = "library/" + image
	case host == "docker.io" || host == "index.docker.io":
		return strings.TrimPrefix(path, "library/")
	case strings.ContainsAny(host, ".:") || host == "localhost":
		return image
	default:
		path = image
	}
	return []string{"docker.io/", "index.docker.io/"}[choice] + path
}

// renameGPUs implements other-gpu.
func (res *response) renameGPUs() {
	if res.schema != "Instance" {
		return
	}
	for _, item := range res.items() {
		gpu := object(item, "gpu")
		slug, _ := gpu["slug"].(string)
		name, _ := gpu["name"].(string)
		if slug != "" {
			gpu["slug"], gpu["name"] = "nvidia-"+strings.ReplaceAll(slug, "_", "-"), "NVIDIA "+name
		}
	}
}

// unknownEnums implements unknown-enums. A stable status does not change.
func (res *response) unknownEnums() {
	for _, item := range res.items() {
		name := identifier(item)
		invent := func(field, value string, sides int, about ...any) {
			if _, has := item[field].(string); has &&
				res.randomInt(sides, unknownEnums, append(about, field, name)...) == 0 {
				item[field] = value
			}
		}
		switch res.schema {
		case "GpuModel":
			invent("tier", "prosumer", 2)
		case "ApiKey", "ApiKeyCreated":
			invent("source", "terraform", 2)
		case "Transaction":
			invent("type", "cashback", 4)
		case "Template":
			if item["owner"] == "catalog" {
				invent("launch_mode", "vnc", 3)
			}
		case "Instance":
			invent("stop_reason", "maintenance", 2)
			switch status, _ := item["status"].(string); status {
			case "creating", "starting", "stopping", "destroying":
				if res.ID != "deleteInstance" {
					invent("status", "re"+status, 2, res.attempt)
				}
			}
		}
	}
}

// dropOneIn is the inverse probability that an optional field with a value is left out.
const dropOneIn = 12

// dropOptionalFields implements optional-fields-absent.
func (res *response) dropOptionalFields() {
	if res.schema == "" {
		return
	}
	fields := apidoc.Fields(res.schema)
	for _, item := range res.items() {
		for _, f := range fields {
			value, has := item[f.Name]
			if has && !f.Required && (value == nil || res.randomInt(dropOneIn, optionalFieldsAbsent, identifier(item),
				f.Name, res.key, res.attempt) == 0) {
				delete(item, f.Name)
			}
		}
	}
}

// addFields implements unknown-fields. The env of a template and the details of an error have no fixed fields.
func (res *response) addFields() { addUnknownFields(res.content) }

func addUnknownFields(value any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			addUnknownFields(item)
		}
	case map[string]any:
		for field, inner := range value {
			if field != "env" && field != "details" {
				addUnknownFields(inner)
			}
		}
		value["x_text"], value["x_number"], value["x_flag"], value["x_nothing"] = "new", 1e30, true, nil
		value["x_list"], value["x_object"] = []any{1, "two", nil}, map[string]any{"deep": map[string]any{}}
	}
}
