package contract_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
)

// wantFields transcribes the field tables of the API description: a line per
// field, its type, the known values of a plain string, "null" where it may be
// null, "required" where it is.
var wantFields = map[string]string{
	"User": `
		id string required
		email string null
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
		runway_hours number null required
		currency enum RUB required`,
	"Transaction": `
		id string required
		at time required
		type enum topup,usage,bandwidth,refund,promo_grant,promo_expire,adjustment,writeoff,reversal required
		amount_kop int64 required
		description string required
		instance_id string null required`,
	"GpuModel": `
		slug string required
		name string required
		vram_gb integer required
		tier enum consumer,workstation,datacenter,legacy required
		available_gpus integer required
		from_kop_h int64 null required
		from_interruptible_kop_h int64 null required`,
	"Offer": `
		id string required
		available boolean required
		verified boolean
		country string null
		region string null
		gpu OfferGpu required
		cpu OfferCpu
		ram_gb integer null
		disk OfferDisk
		network OfferNetwork
		pcie OfferPcie
		cuda_max number null
		driver string null
		reliability number null
		max_duration_days integer null
		dlperf number null
		price OfferPrice required`,
	"OfferGpu": `
		slug string required
		name string required
		count integer required
		vram_gb integer required
		total_tflops number null required
		mem_bw_gbs integer null required`,
	"OfferCpu": `
		name string null required
		cores integer null required`,
	"OfferDisk": `
		max_gb integer null required
		bw_mbps integer null required
		name nothing null required`,
	"OfferNetwork": `
		up_mbps integer null required
		down_mbps integer null required
		ports integer null required`,
	"OfferPcie": `
		gen integer null required
		bw_gbs number null required`,
	"OfferPrice": `
		on_demand_kop_h int64 required
		interruptible_kop_h int64 null required
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
		onstart string null required
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
		name string null
		status enum creating,starting,running,stopping,stopped,destroying,destroyed,failed,outbid required
		desired_state enum running,stopped,destroyed
		type enum on_demand,interruptible required
		gpu InstanceGpu required
		template InstanceTemplate
		image string
		disk_gb integer
		country string null
		price InstancePrice required
		cost_so_far_kop int64
		ssh InstanceSsh null
		urls array of InstanceUrl
		created_at time
		started_at time null
		stop_reason string known user,low_balance,admin,provider null`,
	"InstanceGpu": `
		slug string required
		name string required
		count integer required
		vram_gb integer null required`,
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
		url string null required`,
	"InstanceCreate": `
		offer_id string required
		template string required
		disk_gb integer required
		name string
		ssh_key_ids array of string
		type enum on_demand,interruptible
		image string
		env object
		onstart nothing null`,
	"InstanceUpdate": `name string null required`,
	"InstanceLogs":   `lines array of string required`,
	"ApiKey": `
		id string required
		name string required
		prefix string required
		scopes array of Scope required
		source enum console,cli,api required
		last_used_at time null required
		created_at time required
		expires_at time null required`,
	"ApiKeyCreate": `
		name string required
		scopes array of Scope required
		expires_in_days integer null`,
	"ApiKeyCreated": `
		id string required
		name string required
		prefix string required
		scopes array of string known user:read,user:write,instances:read,instances:write,billing:read required
		source string known console,cli,api required
		last_used_at time null required
		created_at time required
		expires_at time null required
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
		user object required`,
	"DeviceTokenCreate": `device_code string required`,
	"TransactionPage":   `data array of Transaction required, next_cursor NextCursor null required`,
	"GpuModelPage":      `data array of GpuModel required, next_cursor NextCursor null required`,
	"OfferPage":         `data array of Offer required, next_cursor NextCursor null required`,
	"TemplatePage":      `data array of Template required, next_cursor NextCursor null required`,
	"SshKeyPage":        `data array of SshKey required, next_cursor NextCursor null required`,
	"InstancePage":      `data array of Instance required, next_cursor NextCursor null required`,
	"ApiKeyPage":        `data array of ApiKey required, next_cursor NextCursor null required`,
	"ValidationIssue":   `field string required, message string required`,
}

func TestFields(t *testing.T) {
	schemas := load(t).Components.Schemas
	for name, want := range wantFields {
		lines := strings.FieldsFunc(want, func(r rune) bool { return r == '\n' })
		if strings.HasSuffix(name, "Page") || name == "ValidationIssue" {
			lines = strings.Split(want, ", ")
		}
		var wanted []string
		for _, line := range lines {
			if line = strings.TrimSpace(line); line != "" {
				wanted = append(wanted, line)
			}
		}
		slices.Sort(wanted)
		schema := schemas[name]
		if schema == nil {
			t.Errorf("there is no schema %s", name)
			continue
		}
		if diff := cmp.Diff(wanted, fieldsOf(schema.Value)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name, schema := range schemas {
		isError := schema.Value.Properties["error"] != nil
		if _, ok := wantFields[name]; !ok && !isError && len(schema.Value.Properties) > 0 {
			t.Errorf("schema %s is not in the table", name)
		}
	}
}

// fieldsOf describes the fields of an object schema the way wantFields does,
// sorted.
func fieldsOf(schema *openapi3.Schema) []string {
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		property := schema.Properties[name]
		field := name + " " + typeOf(property)
		if property.Value.Nullable {
			field += " null"
		}
		if slices.Contains(schema.Required, name) {
			field += " required"
		}
		fields = append(fields, field)
	}
	slices.Sort(fields)
	return fields
}

func typeOf(ref *openapi3.SchemaRef) string {
	schema := ref.Value
	known, extensible := schema.Extensions["x-extensible-enum"].([]any)
	switch {
	case extensible:
		return "string known " + join(known)
	case schema.Not != nil: // only null is valid
		return "nothing"
	case ref.Ref != "":
		return strings.TrimPrefix(ref.Ref, "#/components/schemas/")
	case len(schema.Enum) > 0:
		return "enum " + join(schema.Enum)
	case schema.Type.Is("array"):
		return "array of " + typeOf(schema.Items)
	case schema.AdditionalProperties.Schema != nil:
		return "map of " + typeOf(schema.AdditionalProperties.Schema)
	case schema.Format == "date-time":
		return "time"
	case schema.Format == "int64":
		return "int64"
	default:
		return schema.Type.Slice()[0]
	}
}

func join(values []any) string {
	var texts []string
	for _, value := range values {
		texts = append(texts, fmt.Sprint(value))
	}
	return strings.Join(texts, ",")
}
