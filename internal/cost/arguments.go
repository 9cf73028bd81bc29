package cost

import (
	"encoding/json"
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
	"gpurent_api_key": {"name", "scopes", "expires_in_days"},
	typeSSHKey:        {"name", "public_key"},
}

// Values that replace others in Change.Arguments.
const (
	sensitiveValue = "(sensitive)"
	unknownValue   = "(known after apply)"
)

// arguments returns the reviewed arguments after a change, without null values.
func arguments(c resourceChange) map[string]any {
	all, _ := redacted(decode(c.Change.After), decode(c.Change.AfterUnknown),
		decode(c.Change.AfterSensitive)).(map[string]any)
	found := map[string]any{}
	for _, name := range reviewedArguments[c.Type] {
		if value := all[name]; value != nil {
			found[name] = value
		}
	}
	return found
}

// redacted returns a value without its null attributes, and with texts in place of what is sensitive or unknown.
func redacted(value, unknown, sensitive any) any {
	switch {
	case sensitive == true:
		return sensitiveValue
	case unknown == true:
		return unknownValue
	}
	unknownList, _ := unknown.([]any)
	sensitiveList, _ := sensitive.([]any)
	unknownParts, _ := unknown.(map[string]any)
	sensitiveParts, _ := sensitive.(map[string]any)
	switch value := value.(type) {
	case []any:
		list := make([]any, len(value))
		for i, element := range value {
			list[i] = redacted(element, at(unknownList, i), at(sensitiveList, i))
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for name := range unknownParts { // the value does not contain what is unknown
			if isTrue(unknownParts[name]) && value[name] == nil {
				object[name] = unknownValue
			}
		}
		for name, part := range value {
			if part := redacted(part, unknownParts[name], sensitiveParts[name]); part != nil {
				object[name] = part
			}
		}
		return object
	}
	return value
}

func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// setChangedArguments sets the reviewed arguments of an updated fleet, if one of them changes.
func (s *Server) setChangedArguments(c resourceChange) {
	before, _ := decode(c.Change.Before).(map[string]any)
	after, _ := decode(c.Change.After).(map[string]any)
	unknown, _ := decode(c.Change.AfterUnknown).(map[string]any)
	for _, name := range reviewedArguments[c.Type] {
		if isTrue(unknown[name]) || !reflect.DeepEqual(before[name], after[name]) {
			s.ChangedArguments = append(s.ChangedArguments, name)
		}
	}
	if len(s.ChangedArguments) > 0 {
		s.Arguments = arguments(c)
	}
}

// codeOf is an argument as inert Markdown.
func codeOf(value any) string {
	if list, ok := value.([]any); ok {
		parts := make([]string, len(list))
		for i, part := range list {
			parts[i] = fmt.Sprint(part)
		}
		return code(strings.Join(parts, ", "))
	}
	if _, object := value.(map[string]any); object {
		text, _ := json.Marshal(value) //nolint:errcheck // it was JSON
		return code(string(text))
	}
	return code(fmt.Sprint(value))
}

// lifetime describes how long an API key is valid.
func lifetime(arguments map[string]any) string {
	if days := arguments["expires_in_days"]; days != nil {
		return "expires in " + codeOf(days) + " days"
	}
	return "never expires"
}
