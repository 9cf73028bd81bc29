// Package apidoc is a transcription of the tables of the API document. It is for tests only: the contract tests compare
// openapi.json with it, and the tests of the simulator compare requests and responses with it.
package apidoc

import (
	"maps"
	"slices"
	"strings"
)

// Field is a row of a table of fields.
type Field struct {
	Name string
	// Type is "string", "integer", "int64", "number", "boolean", "time", "object", "null" (always null), the name of
	// another table, "enum", "array of " or "map of " and another type. "known" is a string with known values.
	Type string
	// Values are those of an enum or of a known string, separated by commas.
	Values string
	// Nullable and Required are as in the document. Tables without the column "required" require all fields.
	Nullable, Required bool
	// Fields are the rows of an object without a separate table.
	Fields []Field
}

// Tables returns the names of all tables of fields.
func Tables() []string { return slices.Collect(maps.Keys(tables)) }

// Fields returns the rows of a table. It panics if there is no such table.
func Fields(table string) []Field {
	text, ok := tables[table]
	if !ok {
		panic("apidoc: no table " + table)
	}
	var fields []Field
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 {
			fields = add(fields, words)
		}
	}
	return fields
}

// add adds a row, or adds it to the object before it if its name has a dot.
func add(fields []Field, words []string) []Field {
	if parent, name, dotted := strings.Cut(words[0], "."); dotted {
		last := &fields[len(fields)-1]
		if last.Name != parent {
			panic("apidoc: " + words[0] + " does not follow " + parent)
		}
		last.Fields = add(last.Fields, append([]string{name}, words[1:]...))
		return fields
	}
	f := Field{Name: words[0]}
	rest := words[1:]
	for len(rest) > 0 && (rest[len(rest)-1] == "required" || rest[len(rest)-1] == "nullable") {
		f.Required = f.Required || rest[len(rest)-1] == "required"
		f.Nullable = f.Nullable || rest[len(rest)-1] == "nullable"
		rest = rest[:len(rest)-1]
	}
	if n := len(rest); n > 1 && (rest[n-2] == "enum" || rest[n-2] == "known") {
		f.Values, rest = rest[n-1], rest[:n-1]
	}
	f.Type = strings.Join(rest, " ")
	return append(fields, f)
}

// Enum returns the values of a field that is an enum.
func Enum(table, field string) []string {
	for _, f := range Fields(table) {
		if f.Name == field && f.Values != "" {
			return strings.Split(f.Values, ",")
		}
	}
	panic("apidoc: no enum " + table + "." + field)
}

// Scopes are the scopes of API keys.
var Scopes = []string{"user:read", "user:write", "instances:read", "instances:write", "billing:read"}

// tables are the chapter "Resources and their fields" and the bodies of the chapter "Endpoints".
var tables = map[string]string{
	"User": `
		id string required
		email string nullable
		name string required
		created_at time required
		two_factor boolean
		email_verified boolean
		telegram_linked boolean`,
	"Balance": `
		balance_kop int64 required
		available_kop int64 required
		credit_limit_kop int64 required
		burn_kop_h int64 required
		runway_hours number nullable required
		currency enum RUB required`,
	"Transaction": `
		id string required
		at time required
		type enum topup,usage,bandwidth,refund,promo_grant,promo_expire,adjustment,writeoff,reversal required
		amount_kop int64 required
		description string required
		instance_id string nullable required`,
	"GpuModel": `
		slug string required
		name string required
		vram_gb integer required
		tier enum consumer,workstation,datacenter,legacy required
		available_gpus integer required
		from_kop_h int64 nullable required
		from_interruptible_kop_h int64 nullable required`,
	"Offer": `
		id string required
		available boolean required
		verified boolean
		country string nullable
		region string nullable
		gpu OfferGpu required
		cpu OfferCpu
		ram_gb integer nullable
		disk OfferDisk
		network OfferNetwork
		pcie OfferPcie
		cuda_max number nullable
		driver string nullable
		reliability number nullable
		max_duration_days integer nullable
		dlperf number nullable
		price OfferPrice required`,
	"OfferGpu": `
		slug string required
		name string required
		count integer required
		vram_gb integer required
		total_tflops number nullable required
		mem_bw_gbs integer nullable required`,
	"OfferCpu": `
		name string nullable required
		cores integer nullable required`,
	"OfferDisk": `
		max_gb integer nullable required
		bw_mbps integer nullable required
		name null nullable required`,
	"OfferNetwork": `
		up_mbps integer nullable required
		down_mbps integer nullable required
		ports integer nullable required`,
	"OfferPcie": `
		gen integer nullable required
		bw_gbs number nullable required`,
	"OfferPrice": `
		on_demand_kop_h int64 required
		interruptible_kop_h int64 nullable required
		storage_kop_gb_month int64 required
		traffic_kop_gb int64 required`,
	"Template": `
		slug string required
		name string required
		description string required
		image string required
		launch_mode enum ssh,jupyter,entrypoint required
		ports array of integer required
		env map of string required
		onstart string nullable required
		min_disk_gb integer required
		recommended_disk_gb integer required
		public boolean required
		owner enum catalog,me required`,
	"TemplateCreate": `
		name string required
		image string required
		description string
		launch_mode enum ssh,jupyter,entrypoint
		ports array of integer
		env map of string
		onstart string
		min_disk_gb integer
		recommended_disk_gb integer`,
	"SshKey": `
		id string required
		name string required
		type string required
		fingerprint string required
		created_at time required`,
	"SshKeyCreate": `
		name string
		public_key string required`,
	"Instance": `
		id string required
		name string nullable
		status enum creating,starting,running,stopping,stopped,destroying,destroyed,failed,outbid required
		desired_state enum running,stopped,destroyed
		type enum on_demand,interruptible required
		gpu InstanceGpu required
		template InstanceTemplate
		image string
		disk_gb integer
		country string nullable
		price InstancePrice required
		cost_so_far_kop int64
		ssh InstanceSsh nullable
		urls array of InstanceUrl
		created_at time
		started_at time nullable
		stop_reason known user,low_balance,admin,provider nullable`,
	"InstanceGpu": `
		slug string required
		name string required
		count integer required
		vram_gb integer nullable required`,
	"InstanceTemplate": `
		slug string required
		name string required`,
	"InstancePrice": `
		running_kop_h int64 required
		stopped_kop_h int64 required
		traffic_kop_gb int64 required`,
	"InstanceSsh": `
		host string required
		port integer required
		user string required
		command string required`,
	"InstanceUrl": `
		label string required
		url string nullable required`,
	"InstanceCreate": `
		offer_id string required
		template string required
		disk_gb integer required
		name string
		ssh_key_ids array of string
		type enum on_demand,interruptible
		image string
		env object
		onstart null nullable`,
	"InstanceUpdate": `name string nullable required`,
	"InstanceLogs":   `lines array of string required`,
	"ApiKey": `
		id string required
		name string required
		prefix string required
		scopes array of Scope required
		source enum console,cli,api required
		last_used_at time nullable required
		created_at time required
		expires_at time nullable required`,
	"ApiKeyCreate": `
		name string required
		scopes array of Scope required
		expires_in_days integer nullable`,
	"ApiKeyCreated": `
		id string required
		name string required
		prefix string required
		scopes array of known user:read,user:write,instances:read,instances:write,billing:read required
		source known console,cli,api required
		last_used_at time nullable required
		created_at time required
		expires_at time nullable required
		secret Secret required`,
	"DeviceCode": `
		device_code string required
		user_code string required
		verification_uri string required
		verification_uri_complete string required
		expires_in integer required
		interval integer required`,
	"DeviceCodeCreate": `client_name string`,
	"DeviceToken": `
		api_key Secret required
		key_id string required
		user object required
		user.email string required`,
	"DeviceTokenCreate": `device_code string required`,
	"Error": `
		error object required
		error.code string required
		error.message string required
		error.details object`,
}
