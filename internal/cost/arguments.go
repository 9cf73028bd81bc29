package cost

import (
	"fmt"
	"reflect"
	"strings"
)

// reviewedArguments are the arguments that a review must show, by resource type: what is rented, and who gets access.
// Price caps are compared separately, as numbers.
var reviewedArguments = map[string][]string{
	typeInstance: {
		"type", "offer_id", "offer_query", "fallback_queries", "template", "image", "disk_gb", "ssh_key_ids",
	},
	typeFleet: {
		"name", "size", "type", "offer_queries", "same", "template", "image", "disk_gb", "ssh_key_ids",
	},
	typeTemplate: {
		"name", "image", "launch_mode", "ports", "env", "onstart", "min_disk_gb", "recommended_disk_gb",
	},
	typeAPIKey: {"name", "scopes", "expires_in_days"},
	typeSSHKey: {"name", "public_key"},
}

// Values that replace others in Change.Arguments.
const (
	sensitiveValue = "(sensitive)"
	unknownValue   = "(known after apply)"
)

// setArguments sets the reviewed arguments to those after the change, without null values.
func (c *Change) setArguments(after values) {
	c.Arguments = map[string]any{}
	for _, name := range reviewedArguments[c.Type] {
		if value := after.attributes[name]; value != nil {
			c.Arguments[name] = printable(value)
		}
	}
}

// setChangedArguments sets the reviewed arguments of an updated fleet, if one of them changes.
func (c *Change) setChangedArguments(before, after values) {
	for _, name := range reviewedArguments[c.Type] {
		if after.isUnknown(name) || !reflect.DeepEqual(before.attributes[name], after.attributes[name]) {
			c.ChangedArguments = append(c.ChangedArguments, name)
		}
	}
	if len(c.ChangedArguments) > 0 {
		c.setArguments(after)
	}
}

// printable returns a value with texts in place of its hidden parts.
func printable(value any) any {
	switch value := value.(type) {
	case hiddenValue:
		if value.sensitive {
			return sensitiveValue
		}
		return unknownValue
	case []any:
		list := make([]any, len(value))
		for i, element := range value {
			list[i] = printable(element)
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for name, part := range value {
			object[name] = printable(part)
		}
		return object
	}
	return value
}

// codeOf is an argument as inert Markdown.
func codeOf(value any) string {
	list, isList := value.([]any)
	if !isList {
		return code(fmt.Sprint(value))
	}
	parts := make([]string, len(list))
	for i, part := range list {
		parts[i] = fmt.Sprint(part)
	}
	return code(strings.Join(parts, ", "))
}
