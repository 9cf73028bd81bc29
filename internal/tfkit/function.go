package tfkit

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"
)

var _ function.Function = Function{}

// Function is a provider-defined function.
type Function struct {
	// Name is the name after "provider::gpurent::".
	Name string
	// Signature is its signature with its documentation.
	Signature function.Definition
	// Call returns its result. The text of an error is a part of a sentence: the CLI puts the name of the parameter before
	// it and a full stop after it.
	Call func(ctx context.Context, arguments function.ArgumentsData) (result any, err *function.FuncError)
}

// Metadata implements function.Function.
func (f Function) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = f.Name
}

// Definition implements function.Function.
func (f Function) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = f.Signature
}

// Run implements function.Function.
func (f Function) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	result, err := f.Call(ctx, req.Arguments)
	if err != nil {
		resp.Error = err
		return
	}
	resp.Error = resp.Result.Set(ctx, result)
}
