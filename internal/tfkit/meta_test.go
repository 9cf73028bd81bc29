package tfkit

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

const key = "gpr_CANARYcanaryCANARYcanaryCANARYcanary1234"

func client(t *testing.T, key string) *rental.Client {
	t.Helper()
	c, err := rental.New(rental.Config{BaseURL: "https://rent.example/api/v1", APIKey: key})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestMeta_Owns(t *testing.T) {
	meta := &Meta{KeyStart: KeyStart(key)}
	for prefix, want := range map[string]bool{
		"gpr_CANA": true, "gpr_CANAR": true, "gpr_OTHE": false, "gpr_": true, "": false, "gpr_****": false,
	} {
		if got := meta.Owns(prefix); got != want {
			t.Errorf("Owns(%q) = %t, want %t", prefix, got, want)
		}
	}
	if (&Meta{}).Owns("gpr_CANA") {
		t.Error("Owns returns true without a key")
	}
}

func TestConfigure_MissingKey(t *testing.T) {
	for name, test := range map[string]struct {
		data       any
		fails      bool // for types that need a key
		canRead    bool
		publicRead bool
	}{
		"validation":            {nil, false, false, false},
		"with a key":            {&Meta{Client: client(t, key)}, false, true, true},
		"without a key":         {&Meta{Client: client(t, "")}, true, true, true},
		"unknown key":           {&Meta{Client: client(t, ""), KeyUnknown: true}, false, false, true},
		"unknown configuration": {&Meta{KeyUnknown: true}, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			var r Resource
			var onResource resource.ConfigureResponse
			r.Configure(t.Context(), resource.ConfigureRequest{ProviderData: test.data}, &onResource)
			var d DataSource
			var onData datasource.ConfigureResponse
			d.Configure(t.Context(), datasource.ConfigureRequest{ProviderData: test.data}, &onData)
			p := DataSource{Public: true}
			var onPublic datasource.ConfigureResponse
			p.Configure(t.Context(), datasource.ConfigureRequest{ProviderData: test.data}, &onPublic)
			if onResource.Diagnostics.HasError() != test.fails || onData.Diagnostics.HasError() != test.fails ||
				onPublic.Diagnostics.HasError() {
				t.Errorf("resource %v, data source %v, public %v", onResource.Diagnostics, onData.Diagnostics, onPublic.Diagnostics)
			}
			var diags diag.Diagnostics
			if d.CanRead(&diags) != test.canRead || p.CanRead(&diags) != test.publicRead {
				t.Errorf("data source %t, public %t", d.CanRead(&diags), p.CanRead(&diags))
			}
			diags = nil
			if own := test.canRead && !test.fails; p.CanReadOwn(&diags) != own || diags.HasError() == own {
				t.Errorf("CanReadOwn of a public data source: %v, want %t", diags, own)
			}
		})
	}
}

func TestSkipRead_KeepsState(t *testing.T) {
	for name, test := range map[string]struct {
		meta *Meta
		skip bool
	}{
		"with an unknown key": {&Meta{KeyUnknown: true}, true},
		"with a client":       {&Meta{Client: client(t, key)}, false},
	} {
		r := Resource{Meta: test.meta}
		var identity resource.IdentitySchemaResponse
		r.IdentitySchema(t.Context(), resource.IdentitySchemaRequest{}, &identity)
		state := schema.Schema{Attributes: map[string]schema.Attribute{"id": schema.StringAttribute{Computed: true}}}
		raw := tftypes.NewValue(
			state.Type().TerraformType(t.Context()),
			map[string]tftypes.Value{"id": tftypes.NewValue(tftypes.String, "i-1")},
		)
		resp := resource.ReadResponse{Identity: &tfsdk.ResourceIdentity{
			Schema: identity.IdentitySchema,
			Raw:    tftypes.NewValue(identity.IdentitySchema.Type().TerraformType(t.Context()), nil),
		}}
		skip := r.SkipRead(t.Context(), resource.ReadRequest{State: tfsdk.State{Schema: state, Raw: raw}}, &resp)
		if skip != test.skip {
			t.Errorf("%s: skipped: %t", name, skip)
		}
		if warned := resp.Diagnostics.WarningsCount() == 1; warned != test.skip || resp.Diagnostics.HasError() {
			t.Errorf("%s: %v", name, resp.Diagnostics)
		}
		var id string
		if diags := resp.Identity.GetAttribute(t.Context(), path.Root("id"), &id); diags.HasError() || id != "i-1" {
			t.Errorf("%s: the identity is %q, %v", name, id, diags)
		}
	}
}
