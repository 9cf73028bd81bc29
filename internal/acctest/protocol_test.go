package acctest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/action"
	actionschema "github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/list"
	listschema "github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	providerschema "github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	resourceschema "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// toyProvider has one action, which says what it was told, and one resource, of which
// there are three.
type toyProvider struct{ greeting types.String }

type (
	toyAction   struct{ of *toyProvider }
	toyResource struct{ resource.Resource } // nobody manages any
	toyList     struct{}
)

func (p *toyProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "toy"
}

func (p *toyProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = providerschema.Schema{Attributes: map[string]providerschema.Attribute{"greeting": providerschema.StringAttribute{Optional: true}}}
}

func (p *toyProvider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("greeting"), &p.greeting)...)
}

func (p *toyProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return toyResource{} }}
}

func (p *toyProvider) DataSources(context.Context) []func() datasource.DataSource { return nil }

func (p *toyProvider) Actions(context.Context) []func() action.Action {
	return []func() action.Action{func() action.Action { return toyAction{p} }}
}

func (p *toyProvider) ListResources(context.Context) []func() list.ListResource {
	return []func() list.ListResource{func() list.ListResource { return toyList{} }}
}

func (a toyAction) Metadata(_ context.Context, _ action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = "toy_say"
}

func (a toyAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = actionschema.Schema{Attributes: map[string]actionschema.Attribute{
		"text": actionschema.StringAttribute{Required: true},
		"of": actionschema.SingleNestedAttribute{Optional: true, Attributes: map[string]actionschema.Attribute{
			"number": actionschema.Int64Attribute{Required: true},
			"words":  actionschema.SetAttribute{Optional: true, ElementType: types.StringType},
		}},
	}}
}

func (a toyAction) ModifyPlan(_ context.Context, req action.ModifyPlanRequest, resp *action.ModifyPlanResponse) {
	resp.Diagnostics.AddWarning("Planned", fmt.Sprintf("known: %t", req.Config.Raw.IsFullyKnown()))
}

func (a toyAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	resp.SendProgress(action.InvokeProgressEvent{Message: a.of.greeting.ValueString() + " " + req.Config.Raw.String()})
	if strings.Contains(req.Config.Raw.String(), "wait") {
		<-ctx.Done()
		resp.Diagnostics.AddError("Interrupted", "")
	}
}

func (r toyResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "toy_thing"
}

func (r toyResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = resourceschema.Schema{Attributes: map[string]resourceschema.Attribute{"id": resourceschema.StringAttribute{Computed: true}, "size": resourceschema.Int64Attribute{Optional: true}}}
}

func (r toyResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{"id": identityschema.StringAttribute{RequiredForImport: true}}}
}

func (l toyList) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "toy_thing"
}

func (l toyList) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = listschema.Schema{Attributes: map[string]listschema.Attribute{"prefix": listschema.StringAttribute{Optional: true}}}
}

func (l toyList) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	var prefix types.String
	stream.Results = func(push func(list.ListResult) bool) {
		req.Config.GetAttribute(ctx, path.Root("prefix"), &prefix)
		for n := range min(3, int(req.Limit)) {
			found, id := req.NewListResult(ctx), prefix.ValueString()+fmt.Sprint(n)
			found.DisplayName = "thing " + id
			found.Diagnostics.Append(found.Identity.SetAttribute(ctx, path.Root("id"), id)...)
			if req.IncludeResource {
				found.Diagnostics.Append(found.Resource.SetAttribute(ctx, path.Root("id"), id)...)
			}
			if !push(found) {
				return
			}
		}
	}
}

const toys = `
provider "toy" {
  greeting = var.hello
}
resource "toy_thing" "left_alone" {
  size = far.away
}
action "toy_say" "it" {
  provider = toy.other
  config {
    text = toy_thing.left_alone.id
    of   = { number = 1 + 1 }
  }
}
list "toy_thing" "two" {
  provider         = toy
  limit            = 2
  include_resource = true
  config {
    prefix = var.hello
  }
}
list "toy_thing" "all" {
  provider = toy
}
`

func withToys(t *testing.T) *Protocol {
	p := Start(t).Protocol()
	p.made = providerserver.NewProtocol6WithError(&toyProvider{})
	return p.Set("var.hello", "Hi")
}

func TestProtocol_invokes(t *testing.T) {
	p := withToys(t).SetLater("toy_thing.left_alone.id", "a-1")
	if said := Said(p.Plan(toys, "action.toy_say.it")); !strings.Contains(said, "known: false") {
		t.Errorf("the plan says %q", said)
	}
	progress, diags := p.Invoke(toys, "action.toy_say.it")
	if Failed(diags) || len(progress) != 1 {
		t.Fatal(progress, Said(diags))
	}
	for _, want := range []string{"Hi ", `"text":tftypes.String<"a-1">`, `"number":tftypes.Number<"2">`, `"words":tftypes.Set[tftypes.String]<null>`} {
		if !strings.Contains(progress[0], want) {
			t.Errorf("%s is not in %s", want, progress[0])
		}
	}
}

func TestProtocol_stops(t *testing.T) {
	p := withToys(t).Set("toy_thing.left_alone.id", "wait")
	p.Progress = func(string) { p.Stop() }
	if _, diags := p.Invoke(toys, "action.toy_say.it"); Said(diags) != "Warning: Planned known: true Error: Interrupted" {
		t.Errorf("it says %q", Said(diags))
	}
}

func TestProtocol_queries(t *testing.T) {
	p := withToys(t).Set("toy_thing.left_alone.id", "")
	two, diags := p.Query(toys, "list.toy_thing.two")
	if Failed(diags) || len(two) != 2 {
		t.Fatal(two, Said(diags))
	}
	if got := fmt.Sprint(two[1].Name, two[1].Identity, two[1].Resource); got != "thing Hi1map[id:Hi1] map[id:Hi1 size:<nil>]" {
		t.Error(got)
	}
	all, diags := p.Query(toys, "list.toy_thing.all")
	if Failed(diags) || len(all) != 3 || all[0].Resource != nil || all[0].Identity["id"] != "0" {
		t.Error(all, Said(diags))
	}
}

// What a CLI refuses is refused here.
func TestProtocol_refuses(t *testing.T) {
	p := withToys(t).Set("toy_thing.left_alone.id", "")
	for config, want := range map[string]string{
		`action "toy_say" "it" {}`: `Missing required argument`,
		"action \"toy_say\" \"it\" {\n config {\n text = \"\"\n speed = 1\n}\n}": `Unsupported argument`,
		"action \"toy_say\" \"it\" {\n count = 2\n config {\n text = \"\"\n}\n}": `Unsupported argument`,
		"action \"toy_say\" \"it\" {\n config {\n text = far.away\n}\n}":         `Unknown variable`,
		"action \"toy_say\" \"it\" {\n config {\n text = []\n}\n}":               `string required`,
		"action \"toy_say\" \"it\" {\n config {\n text = \"\"\n of = {}\n}\n}":   `attribute "number" is required`,
		"list \"toy_thing\" \"it\" {\n provider = toy\n limit = \"many\"\n}":     `number is required`,
	} {
		if diags := p.Validate("provider \"toy\" {}\n" + config); !Failed(diags) || !strings.Contains(Said(diags), want) {
			t.Errorf("%s: %q is not said in %q", config, want, Said(diags))
		}
	}
	if diags := p.Validate(toys); len(diags) > 0 {
		t.Error(Said(diags))
	}
	if !Failed(p.Plan(strings.Replace(toys, "var.hello", "[]", 1), "action.toy_say.it")) {
		t.Error("a provider with a bad argument is configured")
	}
}
