package conformance

import "strings"

// The document's chapter "Resources and their fields", row by row.

const (
	scopeNames  = "user:read|user:write|instances:read|instances:write|billing:read"
	statusNames = "creating|starting|running|stopping|stopped|destroying|destroyed|failed|outbid"
	ledgerTypes = "topup|usage|bandwidth|refund|promo_grant|promo_expire|adjustment|writeoff|reversal"
)

// statuses is statusNames in an order that a service can be forced through: nothing comes after destroyed.
var statuses = append(strings.Split(strings.Replace(statusNames, "destroyed|", "", 1), "|"), "destroyed")

func userTable() *table {
	return newTable("User", must("id", "string"), may("email", "string?"), must("name", "string"), must("created_at", "time"),
		may("two_factor", "boolean"), may("email_verified", "boolean"), may("telegram_linked", "boolean"))
}

func balanceTable() *table {
	return newTable("Balance", must("balance_kop", "integer"), must("available_kop", "integer"), must("credit_limit_kop", "integer"),
		must("burn_kop_h", "integer"), must("runway_hours", "number?"), must("currency", "RUB"))
}

func transactionTable() *table {
	return newTable("Transaction", must("id", "string"), must("at", "time"), must("type", ledgerTypes), must("amount_kop", "integer"),
		must("description", "string"), must("instance_id", "string?"))
}

func gpuTable() *table {
	return newTable("GpuModel", must("slug", "string"), must("name", "string"), must("vram_gb", "integer"),
		must("tier", "consumer|workstation|datacenter|legacy"), must("available_gpus", "integer"), must("from_kop_h", "integer?"),
		must("from_interruptible_kop_h", "integer?"))
}

func offerTable() *table {
	return newTable("Offer", must("id", "string"), must("available", "boolean"), may("verified", "boolean"), may("country", "string?"),
		may("region", "string?"),
		must("gpu", "object", must("slug", "string"), must("name", "string"), must("count", "integer"), must("vram_gb", "integer"),
			must("total_tflops", "number?"), must("mem_bw_gbs", "integer?")),
		may("cpu", "object", must("name", "string?"), must("cores", "integer?")),
		may("ram_gb", "integer?"),
		may("disk", "object", must("max_gb", "integer?"), must("bw_mbps", "integer?"), must("name", "string!")),
		may("network", "object", must("up_mbps", "integer?"), must("down_mbps", "integer?"), must("ports", "integer?")),
		may("pcie", "object", must("gen", "integer?"), must("bw_gbs", "number?")),
		may("cuda_max", "number?"), may("driver", "string?"), may("reliability", "number?"), may("max_duration_days", "integer?"),
		may("dlperf", "number?"),
		must("price", "object", must("on_demand_kop_h", "integer"), must("interruptible_kop_h", "integer?"),
			must("storage_kop_gb_month", "integer"), must("traffic_kop_gb", "integer")))
}

func templateTable() *table {
	return newTable("Template", must("slug", "string"), must("name", "string"), must("description", "string"), must("image", "string"),
		must("launch_mode", "ssh|jupyter|entrypoint"), must("ports", "integers"), must("env", "map"), must("onstart", "string?"),
		must("min_disk_gb", "integer"), must("recommended_disk_gb", "integer"), must("public", "boolean"), must("owner", "catalog|me"))
}

func sshKeyTable() *table {
	return newTable("SshKey", must("id", "string"), must("name", "string"), must("type", "string"), must("fingerprint", "string"),
		must("created_at", "time"))
}

func instanceTable() *table {
	return newTable("Instance", must("id", "string"), may("name", "string?"), must("status", statusNames),
		may("desired_state", "running|stopped|destroyed"), must("type", "on_demand|interruptible"),
		must("gpu", "object", must("slug", "string"), must("name", "string"), must("count", "integer"), must("vram_gb", "integer?")),
		may("template", "object", must("slug", "string"), must("name", "string")),
		may("image", "string"), may("disk_gb", "integer"), may("country", "string?"),
		must("price", "object", must("running_kop_h", "integer"), must("stopped_kop_h", "integer"), must("traffic_kop_gb", "integer")),
		may("cost_so_far_kop", "integer"),
		may("ssh", "object?", must("host", "string"), must("port", "integer"), must("user", "string"), must("command", "string")),
		may("urls", "objects", must("label", "string"), must("url", "string?")),
		may("created_at", "time"), may("started_at", "time?"), may("stop_reason", "string?"))
}

func apiKeyTable() *table {
	return newTable("ApiKey", must("id", "string"), must("name", "string"), must("prefix", "string"), must("scopes", "strings"),
		must("source", "console|cli|api"), must("last_used_at", "time?"), must("created_at", "time"), must("expires_at", "time?"))
}

// createdKeyTable is ApiKeyCreated: an ApiKey with its secret.
func createdKeyTable() *table {
	tb := apiKeyTable()
	tb.name = "ApiKeyCreated"
	tb.rows = append(tb.rows, must("secret", "string"))
	return tb
}

func deviceCodeTable() *table {
	return newTable("DeviceCode", must("device_code", "string"), must("user_code", "string"), must("verification_uri", "string"),
		must("verification_uri_complete", "string"), must("expires_in", "integer"), must("interval", "integer"))
}

func deviceTokenTable() *table {
	return newTable("DeviceToken", must("api_key", "string"), must("key_id", "string"), must("user", "object", must("email", "string")))
}

func errorTable() *table {
	return newTable("Error", must("error", "object", must("code", "string"), must("message", "string"), may("details", "object")))
}
