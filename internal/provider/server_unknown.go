package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// applyUnknown applies a change while the address or the key of the provider is unknown. It uses the key of another
// source, with a warning, and fails without one.
func (s *server) applyUnknown(
	ctx context.Context, meta *tfkit.Meta, req *tfprotov6.ApplyResourceChangeRequest,
) (*tfprotov6.ApplyResourceChangeResponse, error) {
	var diags diag.Diagnostics
	if meta.KeySource == "" {
		addUnknownAtApply(&diags, meta.Client == nil)
		return &tfprotov6.ApplyResourceChangeResponse{
			NewState: req.PriorState, Private: req.PlannedPrivate, NewIdentity: req.PlannedIdentity,
			Diagnostics: toProtocol(diags),
		}, nil
	}
	resp, err := s.apply(ctx, req)
	if err == nil {
		addOtherKey(&diags, meta.KeySource)
		resp.Diagnostics = append(resp.Diagnostics, toProtocol(diags)...)
	}
	return resp, err
}

// toProtocol converts diagnostics without attributes.
func toProtocol(diags diag.Diagnostics) (converted []*tfprotov6.Diagnostic) {
	for _, d := range diags {
		severity := tfprotov6.DiagnosticSeverityWarning
		if d.Severity() == diag.SeverityError {
			severity = tfprotov6.DiagnosticSeverityError
		}
		converted = append(converted, &tfprotov6.Diagnostic{
			Severity: severity, Summary: d.Summary(), Detail: d.Detail(),
		})
	}
	return converted
}
