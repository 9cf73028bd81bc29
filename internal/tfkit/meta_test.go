package tfkit

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

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

func TestOwns(t *testing.T) {
	meta := &Meta{KeyStart: KeyStart(key)}
	for prefix, want := range map[string]bool{"gpr_CANA": true, "gpr_CANAR": true, "gpr_OTHE": false, "gpr_": false, "": false} {
		if got := meta.Owns(prefix); got != want {
			t.Errorf("Owns(%q) = %t, want %t", prefix, got, want)
		}
	}
	if (*Meta)(nil).Owns("gpr_CANA") || (&Meta{}).Owns("gpr_CANA") {
		t.Error("owns a key without having one")
	}
}

func TestConfigureAsksForAKeyWhereOneIsNeeded(t *testing.T) {
	for name, test := range map[string]struct {
		data       any
		fails      bool // for what needs a key
		publicToo  bool // for the public part as well
		canRead    bool
		publicRead bool
	}{
		"validation":        {nil, false, false, false, false},
		"with a key":        {&Meta{Client: client(t, key)}, false, false, true, true},
		"without a key":     {&Meta{Client: client(t, "")}, true, false, true, true},
		"key not known yet": {&Meta{Client: client(t, ""), KeyUnknown: true}, false, false, false, true},
		"nothing known yet": {&Meta{KeyUnknown: true}, false, false, false, false},
		"something else":    {"meta", true, true, false, false},
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
			if onResource.Diagnostics.HasError() != test.fails || onData.Diagnostics.HasError() != test.fails || onPublic.Diagnostics.HasError() != test.publicToo {
				t.Errorf("resource %v, data source %v, public %v", onResource.Diagnostics, onData.Diagnostics, onPublic.Diagnostics)
			}
			var diags diag.Diagnostics
			if d.CanRead(&diags) != test.canRead || p.CanRead(&diags) != test.publicRead {
				t.Errorf("data source %t, public %t", d.CanRead(&diags), p.CanRead(&diags))
			}
			diags = nil
			if own := test.canRead && !test.fails; p.CanReadOwn(&diags) != own || diags.HasError() == own {
				t.Errorf("own part of the public: %v, want it to be readable: %t", diags, own)
			}
		})
	}
}

func TestSkipReadKeepsTheStateAndSaysSo(t *testing.T) {
	var diags diag.Diagnostics
	r := Resource{Meta: &Meta{KeyUnknown: true}}
	if !r.SkipRead(&diags) || diags.HasError() || diags.WarningsCount() != 1 {
		t.Errorf("with an unknown key: %v", diags)
	}
	diags = nil
	if (&Resource{Meta: &Meta{Client: client(t, key)}}).SkipRead(&diags) || len(diags) > 0 {
		t.Errorf("with a client: %v", diags)
	}
}
