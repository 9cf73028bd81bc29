package quirks

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// foreignItemsJSON are the items of other accounts by schema. Other types have one strange item.
var foreignItemsJSON = map[string]string{
	"Instance": `[
		{"id": "ins_stranger1", "name": "stranger 1", "status": "hibernating", "desired_state": "hibernated",
		 "type": "reserved", "gpu": {"slug": "mi300x", "name": "MI300X", "count": 16, "vram_gb": 192},
		 "template": {"slug": "gone", "name": "Gone"}, "image": "registry.example/gone:1", "disk_gb": 100,
		 "price": {"running_kop_h": 99000, "stopped_kop_h": 90, "traffic_kop_gb": 0}, "cost_so_far_kop": 12,
		 "country": "JP", "ssh": null, "urls": [], "created_at": "2020-01-01T00:00:00Z", "started_at": null,
		 "stop_reason": "seized"},
		{"id": "ins_stranger2", "name": null, "status": "running", "desired_state": "running",
		 "type": "on_demand", "gpu": {"slug": "rtx_4090", "name": "RTX 4090", "count": 1, "vram_gb": null},
		 "template": {"slug": "", "name": ""}, "image": "", "disk_gb": 0,
		 "price": {"running_kop_h": -500, "stopped_kop_h": -1, "traffic_kop_gb": -1}, "cost_so_far_kop": -100,
		 "urls": [{"label": "", "url": null}], "created_at": "2020-01-01T00:00:00Z"}
	]`,
	"Offer": `[
		{"id": "off_stranger1", "available": true,
		 "gpu": {"slug": "rtx_4090", "name": "RTX 4090", "count": 1, "vram_gb": 24},
		 "price": {"on_demand_kop_h": -100, "interruptible_kop_h": -50, "storage_kop_gb_month": -1,
		  "traffic_kop_gb": -1}},
		{"id": "off_stranger2", "available": true, "gpu": {"slug": "", "name": "", "count": 0, "vram_gb": 0},
		 "price": {"on_demand_kop_h": 9000000, "interruptible_kop_h": 8000000, "storage_kop_gb_month": 0,
		  "traffic_kop_gb": 0}}
	]`,
}

// foreignItems returns the items of other accounts. The caller owns them.
func foreignItems(schema string) []map[string]any {
	var items []map[string]any
	creates := func(rt *route) bool { return rt.spared && strings.HasPrefix(rt.schema, schema) }
	if text, ok := foreignItemsJSON[schema]; ok {
		if err := json.Unmarshal([]byte(text), &items); err != nil {
			panic("quirks: " + schema + ": " + err.Error())
		}
	} else if schema != "" && slices.ContainsFunc(routes, creates) {
		items = append(items, strangeItem(schema))
	}
	return items
}

// strangeItem returns an item with unusual values.
func strangeItem(schema string) map[string]any {
	item := map[string]any{}
	for _, f := range apidoc.Fields(schema) {
		kind, _, _ := strings.Cut(f.Type, " ")
		first, _, _ := strings.Cut(f.Values, ",")
		unusual := map[string]any{"enum": first, "time": "2020-01-01T00:00:00Z", "string": "", "known": "",
			"boolean": false, "array": []any{}, "map": map[string]any{"": "", "A=B": "\x00"}, "integer": 0, "int64": 0}
		switch {
		case f.Name == "id" || f.Name == "slug":
			item[f.Name] = "stranger-1"
		case f.Name == "name" || f.Name == "description":
			item[f.Name] = "two\nlines \"and\" ${quotes}"
		case !f.Nullable:
			item[f.Name] = unusual[kind]
		default:
			item[f.Name] = nil
		}
	}
	return item
}
