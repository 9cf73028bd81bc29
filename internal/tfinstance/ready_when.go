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
		MarkdownDescription: "Additional conditions for readiness: an apply that creates or starts an instance waits " +
			"until they are met. No conditions by default: the apply waits until the instance runs and has its addresses. A " +
			"change of the conditions alone checks nothing. Changed in place.",
		Attributes: map[string]schema.Attribute{
			"ssh_reachable": schema.BoolAttribute{
				Optional: true,
				MarkdownDescription: "Whether to wait until the SSH server accepts a connection from the machine that runs " +
					"Terraform, and sends its version. Defaults to `false`.",
			},
			"urls_reachable": schema.BoolAttribute{
				Optional: true,
				MarkdownDescription: "Whether to wait until each page in `urls` responds to the machine that runs Terraform " +
					"with an HTTP status below 500. A page with an invalid certificate does not count. Defaults to `false`.",
			},
			"log_pattern": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "Regular expression (RE2 syntax) that a line of the startup log must match, such as " +
					"`^READY$`. The provider reads the last 1000 lines, each log at most twice a minute and all logs " +
					"together at most 30 times a minute. Must not be empty. No pattern by default.",
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
			addNotAPattern(diags, at, reason)
		}
	},
}
