package acctest

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/zclconf/go-cty/cty"

	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
)

// Protocol is a CLI that knows all of the protocol, whatever the one at hand
// knows: it runs the actions and queries of a configuration against the provider,
// in this process. Like a CLI it validates first, takes a provider process of its
// own for the plan and another for what follows, and gives up at the first error.
//
// A configuration is whole, as Config and Example make it. One without a provider
// block is given the service's.
type Protocol struct {
	env   *Env
	made  func() (tfprotov6.ProviderServer, error) // the provider
	vars  scope
	later scope // what is known only when an action runs
	// Progress, where it is set, is told what an action says while it runs.
	Progress func(message string)

	busy atomic.Pointer[process]
}

// Protocol makes one for the service.
func (e *Env) Protocol() *Protocol {
	return &Protocol{env: e, made: provider.Server("test"), vars: scope{}, later: scope{}}
}

// Set gives a value (a text, a number, a truth value, or one of cty's) to what a
// configuration refers to, such as "gpurent_instance.trainer.id" or "var.name".
func (p *Protocol) Set(reference string, value any) *Protocol {
	p.env.t.Helper()
	for _, s := range []scope{p.vars, p.later} {
		if err := s.set(strings.Split(reference, "."), value); err != nil {
			p.env.t.Fatalf("%s: %v", reference, err)
		}
	}
	return p
}

// SetLater gives a value that is not known before the action runs, as of something
// that the same apply makes.
func (p *Protocol) SetLater(reference string, value any) *Protocol {
	p.env.t.Helper()
	if err := p.Set(reference, value).vars.set(strings.Split(reference, "."), Unknown); err != nil {
		p.env.t.Fatalf("%s: %v", reference, err)
	}
	return p
}

// Unknown is the value of what is known only after an apply.
var Unknown = cty.DynamicVal

// Stop is what Ctrl-C does: it asks the provider to end what it is doing.
func (p *Protocol) Stop() {
	p.env.t.Helper()
	at := p.busy.Load()
	if at == nil {
		p.env.t.Fatal("there is nothing to stop")
	}
	if resp, err := at.StopProvider(context.Background(), &tfprotov6.StopProviderRequest{}); err != nil || resp.Error != "" {
		p.env.t.Errorf("stopping the provider: %v %s", err, resp.Error)
	}
}

// Validate is what a CLI says of a configuration before anything of it is known
// but what it says itself.
func (p *Protocol) Validate(config string) []*tfprotov6.Diagnostic {
	p.env.t.Helper()
	return p.validate(p.parse(config))
}

// Plan validates, and plans the action at an address such as
// "action.gpurent_instance_stop.night".
func (p *Protocol) Plan(config, address string) []*tfprotov6.Diagnostic {
	p.env.t.Helper()
	parsed := p.parse(config)
	if diags := p.validate(parsed); Failed(diags) {
		return diags
	}
	action := parsed.find(p.env.t, address)
	return p.with(parsed, p.vars, func(provider *process) []*tfprotov6.Diagnostic {
		value, diags := action.arguments(p.env.t, provider.schema(p.env.t, action), p.vars.known())
		if Failed(diags) {
			return diags
		}
		resp, err := provider.PlanAction(p.env.t.Context(), &tfprotov6.PlanActionRequest{ActionType: action.typeName, Config: pack(p.env.t, value)})
		return append(diags, must(p.env.t, resp, err).Diagnostics...)
	})
}

// Invoke is apply -invoke: it plans the action at an address, and runs it.
func (p *Protocol) Invoke(config, address string) (progress []string, diags []*tfprotov6.Diagnostic) {
	p.env.t.Helper()
	if diags = p.Plan(config, address); Failed(diags) {
		return nil, diags
	}
	parsed := p.parse(config)
	action := parsed.find(p.env.t, address)
	diags = append(diags, p.with(parsed, p.later, func(provider *process) []*tfprotov6.Diagnostic {
		value, diags := action.arguments(p.env.t, provider.schema(p.env.t, action), p.later.known())
		if Failed(diags) {
			return diags
		}
		stream, err := provider.InvokeAction(p.env.t.Context(), &tfprotov6.InvokeActionRequest{ActionType: action.typeName, Config: pack(p.env.t, value)})
		for event := range must(p.env.t, stream, err).Events {
			switch event := event.Type.(type) {
			case tfprotov6.ProgressInvokeActionEventType:
				progress = append(progress, event.Message)
				if p.Progress != nil {
					p.Progress(event.Message)
				}
			case tfprotov6.CompletedInvokeActionEventType:
				diags = append(diags, event.Diagnostics...)
			}
		}
		return diags
	})...)
	return progress, diags
}

// process is the provider as one that a CLI has started.
type process struct {
	protocolServer
	schemas *tfprotov6.GetProviderSchemaResponse
}

// protocolServer is all of the protocol that is used.
type protocolServer interface {
	tfprotov6.ProviderServer
	tfprotov6.ActionServer
	tfprotov6.ListResourceServer
}

func (p *Protocol) start() *process {
	p.env.t.Helper()
	made, err := p.made()
	server, ok := must(p.env.t, made, err).(protocolServer)
	if !ok {
		p.env.t.Fatalf("the provider is a %T, which lacks a part of the protocol", made)
	}
	schemas, err := server.GetProviderSchema(p.env.t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil || len(schemas.Diagnostics) > 0 {
		p.env.t.Fatalf("the provider's schema: %v %s", err, Said(schemas.Diagnostics))
	}
	return &process{server, schemas}
}

// schema is of the arguments of an action or a query.
func (p *process) schema(t testing.TB, of *block) *tfprotov6.Schema {
	t.Helper()
	found := p.schemas.ListResourceSchemas[of.typeName]
	if of.kind == actionBlock {
		found = nil
		if action := p.schemas.ActionSchemas[of.typeName]; action != nil {
			found = action.Schema
		}
	}
	if found == nil {
		t.Fatalf("the provider has no %s", of.address())
	}
	return found
}

// with starts the provider, configures it as the configuration says, and lets it
// do something that Stop can end.
func (p *Protocol) with(config *configuration, known scope, do func(*process) []*tfprotov6.Diagnostic) []*tfprotov6.Diagnostic {
	p.env.t.Helper()
	server := p.start()
	value, diags := config.provider.arguments(p.env.t, server.schemas.Provider, known.known())
	if Failed(diags) {
		return diags
	}
	validated, err := server.ValidateProviderConfig(p.env.t.Context(), &tfprotov6.ValidateProviderConfigRequest{Config: pack(p.env.t, value)})
	if diags = append(diags, must(p.env.t, validated, err).Diagnostics...); Failed(diags) {
		return diags
	}
	configured, err := server.ConfigureProvider(p.env.t.Context(), &tfprotov6.ConfigureProviderRequest{TerraformVersion: "1.14.0", Config: pack(p.env.t, value)})
	if diags = append(diags, must(p.env.t, configured, err).Diagnostics...); Failed(diags) {
		return diags
	}
	p.busy.Store(server)
	defer p.busy.Store(nil)
	return append(diags, do(server)...)
}

// Failed says whether there is an error among the diagnostics.
func Failed(diags []*tfprotov6.Diagnostic) bool {
	for _, d := range diags {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			return true
		}
	}
	return false
}

// Said is what a CLI prints of diagnostics, on one line.
func Said(diags []*tfprotov6.Diagnostic) string {
	var all []string
	for _, d := range diags {
		kind := "Error"
		if d.Severity == tfprotov6.DiagnosticSeverityWarning {
			kind = "Warning"
		}
		at := ""
		if d.Attribute != nil {
			at = fmt.Sprintf(" (at %s)", d.Attribute)
		}
		all = append(all, kind+": "+d.Summary+at+" "+d.Detail)
	}
	return Words(strings.Join(all, " "))
}
