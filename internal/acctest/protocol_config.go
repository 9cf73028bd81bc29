package acctest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/zclconf/go-cty/cty"
)

// The kinds of blocks that are run. All others are left to CLIs.
const (
	actionBlock = "action"
	queryBlock  = "list"
)

// configuration is what is run of a configuration text.
type configuration struct {
	provider *block
	blocks   []*block // actions and queries
}

// block is an action, a query or a provider.
type block struct {
	kind, typeName, name string
	outer                hcl.Body // what it says to the CLI; nil for a provider
	inner                hcl.Body // what it says to the provider
}

func (b *block) address() string { return b.kind + "." + b.typeName + "." + b.name }

// parse reads a configuration, which must be well-formed.
func (p *Protocol) parse(config string) *configuration {
	p.env.t.Helper()
	parsed, err := parseConfiguration(config)
	if err == nil && parsed.provider == nil {
		parsed, err = parseConfiguration(p.env.Config(config))
	}
	if err != nil {
		p.env.t.Fatalf("%v in\n%s", err, config)
	}
	return parsed
}

func parseConfiguration(config string) (*configuration, error) {
	file, problems := hclsyntax.ParseConfig([]byte(config), "main.tf", hcl.InitialPos)
	if problems.HasErrors() {
		return nil, problems
	}
	content, _, problems := file.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "provider", LabelNames: []string{"name"}},
		{Type: actionBlock, LabelNames: []string{"type", "name"}},
		{Type: queryBlock, LabelNames: []string{"type", "name"}},
	}})
	if problems.HasErrors() {
		return nil, problems
	}
	all := &configuration{}
	for _, found := range content.Blocks {
		if found.Type == "provider" {
			all.provider = &block{kind: found.Type, typeName: found.Labels[0], inner: found.Body}
			continue
		}
		outer, rest, problems := found.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "config"}}})
		if problems.HasErrors() {
			return nil, problems
		}
		one := &block{kind: found.Type, typeName: found.Labels[0], name: found.Labels[1], outer: rest, inner: hcl.EmptyBody()}
		if len(outer.Blocks) > 1 {
			return nil, errors.New(one.address() + " has more than one config block")
		}
		for _, config := range outer.Blocks {
			one.inner = config.Body
		}
		all.blocks = append(all.blocks, one)
	}
	return all, nil
}

// find is the block at an address, which must be there.
func (c *configuration) find(t testing.TB, address string) *block {
	t.Helper()
	for _, one := range c.blocks {
		if one.address() == address {
			return one
		}
	}
	t.Fatalf("the configuration has no %s", address)
	return nil
}

// arguments are what a block says to the provider. What it leaves out is null.
func (b *block) arguments(t testing.TB, schema *tfprotov6.Schema, vars *hcl.EvalContext) (cty.Value, []*tfprotov6.Diagnostic) {
	t.Helper()
	spec := hcldec.ObjectSpec{}
	for _, a := range schema.Block.Attributes {
		spec[a.Name] = &hcldec.AttrSpec{Name: a.Name, Type: attributeType(t, a), Required: a.Required}
	}
	value, problems := hcldec.Decode(b.inner, spec, vars)
	return value, fromHCL(problems)
}

// terms are what a block says to the CLI, which must be nothing that this one does
// not know.
func (b *block) terms(vars *hcl.EvalContext) (terms, []*tfprotov6.Diagnostic) {
	spec := hcldec.ObjectSpec{}
	if b.kind == queryBlock {
		spec["include_resource"] = &hcldec.AttrSpec{Name: "include_resource", Type: cty.Bool}
		spec["limit"] = &hcldec.AttrSpec{Name: "limit", Type: cty.Number}
	}
	// It names a provider, which is no value.
	_, rest, problems := b.outer.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "provider"}}})
	value, more := hcldec.Decode(rest, spec, vars)
	diags := fromHCL(append(problems, more...))
	if b.kind != queryBlock || Failed(diags) {
		return terms{}, diags
	}
	said := terms{include: value.GetAttr("include_resource"), limit: value.GetAttr("limit")}
	if said.include.IsNull() {
		said.include = cty.False
	}
	return said, diags
}

// validate has every action and query of a configuration validated, by a provider
// that is not configured. What the configuration refers to is not known then.
func (p *Protocol) validate(config *configuration) (diags []*tfprotov6.Diagnostic) {
	p.env.t.Helper()
	unconfigured, ctx := p.start(), p.env.t.Context()
	for _, one := range config.blocks {
		value, problems := one.arguments(p.env.t, unconfigured.schema(p.env.t, one), p.vars.unknown())
		said, more := one.terms(p.vars.unknown())
		if problems = append(problems, more...); Failed(problems) {
			diags = append(diags, problems...)
			continue
		}
		if one.kind == actionBlock {
			resp, err := unconfigured.ValidateActionConfig(ctx, &tfprotov6.ValidateActionConfigRequest{ActionType: one.typeName, Config: pack(p.env.t, value)})
			diags = append(diags, must(p.env.t, resp, err).Diagnostics...)
			continue
		}
		resp, err := unconfigured.ValidateListResourceConfig(ctx, &tfprotov6.ValidateListResourceConfigRequest{
			TypeName: one.typeName, Config: pack(p.env.t, value), IncludeResourceObject: pack(p.env.t, said.include), Limit: pack(p.env.t, said.limit),
		})
		diags = append(diags, must(p.env.t, resp, err).Diagnostics...)
	}
	return diags
}

func fromHCL(problems hcl.Diagnostics) (diags []*tfprotov6.Diagnostic) {
	for _, p := range problems {
		severity := tfprotov6.DiagnosticSeverityError
		if p.Severity == hcl.DiagWarning {
			severity = tfprotov6.DiagnosticSeverityWarning
		}
		diags = append(diags, &tfprotov6.Diagnostic{Severity: severity, Summary: p.Summary, Detail: p.Detail})
	}
	return diags
}

// scope is what a configuration can refer to: values, and scopes below a name.
type scope map[string]any

func (s scope) set(reference []string, value any) error {
	name, rest := reference[0], reference[1:]
	if len(rest) > 0 {
		below, ok := s[name].(scope)
		if !ok {
			below = scope{}
			s[name] = below
		}
		return below.set(rest, value)
	}
	switch value := value.(type) {
	case cty.Value:
		s[name] = value
	case string:
		s[name] = cty.StringVal(value)
	case bool:
		s[name] = cty.BoolVal(value)
	case int:
		s[name] = cty.NumberIntVal(int64(value))
	case int64:
		s[name] = cty.NumberIntVal(value)
	default:
		return fmt.Errorf("a %T cannot be given", value)
	}
	return nil
}

// known is for evaluation.
func (s scope) known() *hcl.EvalContext {
	return &hcl.EvalContext{Variables: s.values()}
}

func (s scope) values() map[string]cty.Value {
	values := map[string]cty.Value{}
	for name, item := range s {
		switch item := item.(type) {
		case scope:
			values[name] = cty.ObjectVal(item.values())
		case cty.Value:
			values[name] = item
		}
	}
	return values
}

// unknown is for validation, when nothing is known of what is referred to.
func (s scope) unknown() *hcl.EvalContext {
	values := map[string]cty.Value{}
	for name := range s {
		values[name] = Unknown
	}
	return &hcl.EvalContext{Variables: values}
}
