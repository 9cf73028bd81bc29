package tfinstance

import (
	"errors"
	"regexp"
	"regexp/syntax"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// readyWhenAttribute is the argument ready_when.
func readyWhenAttribute() schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "Conditions that must be met before an apply that creates or starts an instance ends. " +
			"[None](../guides/getting-capacity.md#wait-until-a-server-can-be-used) by default.",
		Attributes: map[string]schema.Attribute{
			"ssh_reachable": schema.BoolAttribute{
				Optional: true,
				MarkdownDescription: "Whether to wait until the SSH server answers the machine that runs Terraform. Defaults " +
					"to `false`.",
			},
			"urls_reachable": schema.BoolAttribute{
				Optional: true,
				MarkdownDescription: "Whether to wait until each page in `urls` responds to the machine that runs Terraform, " +
					"with a valid certificate and an HTTP status below 500. Defaults to `false`.",
			},
			"log_pattern": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "Regular expression (RE2 syntax) that one of the last 1000 lines of the startup log must " +
					"match, such as `^READY$`. Must not be empty. No pattern by default.",
				Validators: []validator.String{tfkit.NotEmpty(), regularExpression},
			},
		},
	}
}

// Conditions returns the conditions of ready_when, none for a null or unknown object.
func (a Arguments) Conditions() lifecycle.Conditions {
	attributes := a.ReadyWhen.Attributes()
	ssh, _ := attributes["ssh_reachable"].(types.Bool)
	urls, _ := attributes["urls_reachable"].(types.Bool)
	conditions := lifecycle.Conditions{SSHReachable: ssh.ValueBool(), URLsReachable: urls.ValueBool()}
	if pattern := tfkit.StringOf(attributes["log_pattern"]); pattern != "" {
		conditions.LogPattern, _ = regexp.Compile(pattern) //nolint:errcheck // it is validated
	}
	return conditions
}

// regularExpression accepts regular expressions.
var regularExpression = tfkit.StringRule{
	Text: "a regular expression in RE2 syntax",
	Check: func(diags *diag.Diagnostics, at path.Path, value string) {
		if _, err := regexp.Compile(value); err != nil {
			reason := syntax.ErrorCode("invalid pattern")
			if parsed, ok := errors.AsType[*syntax.Error](err); ok {
				reason = parsed.Code // without the expression
			}
			tfkit.AddAttributeError(diags, at, "Invalid regular expression", tfkit.Textf("The value of %s: %s. The syntax is "+
				"that of RE2, as in the function regex of Terraform: without lookarounds and backreferences.", at.String(),
				string(reason)))
		}
	},
}
