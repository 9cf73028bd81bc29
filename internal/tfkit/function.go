package tfkit

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"
)

var _ function.Function = Function{}

// Function is a pure function: it needs neither the service nor a key, and a plan
// and its apply get the same from it.
type Function struct {
	// Name is what follows "provider::gpurent::".
	Name string
	// Meaning is its signature and what the documents say.
	Meaning function.Definition
	// Call returns its result. An error is a part of a sentence, which the CLI puts
	// the parameter's name before and a full stop behind.
	Call func(ctx context.Context, arguments function.ArgumentsData) (result any, err *function.FuncError)
}

// Metadata implements function.Function.
func (f Function) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = f.Name
}

// Definition implements function.Function.
func (f Function) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = f.Meaning
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
