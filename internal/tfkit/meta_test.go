package tfkit

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

func TestMeta_Owns(t *testing.T) {
	meta := &Meta{KeyStart: KeyStart("gpr_CANARYcanaryCANARYcanaryCANARYcanary1234")}
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

// Types need a key, except for data sources of the public part of the API, and an address.
func TestConfigure_MissingKey(t *testing.T) {
	for name, test := range map[string]struct {
		data       any
		fails      bool // for types that need a key
		canRead    bool
		publicRead bool
	}{
		"validation":            {nil, false, false, false},
		"with a key":            {&Meta{Client: rentaltest.Client(t, nil)}, false, true, true},
		"without a key":         {&Meta{Client: new(rental.Client)}, true, true, true},
		"unknown key":           {&Meta{Client: new(rental.Client), KeyUnknown: true}, false, false, true},
		"unknown configuration": {&Meta{KeyUnknown: true}, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			var r Resource
			var onResource resource.ConfigureResponse
			r.Configure(t.Context(), resource.ConfigureRequest{ProviderData: test.data}, &onResource)
			own, public := DataSource{}, DataSource{Public: true}
			var onData, onPublic datasource.ConfigureResponse
			own.Configure(t.Context(), datasource.ConfigureRequest{ProviderData: test.data}, &onData)
			public.Configure(t.Context(), datasource.ConfigureRequest{ProviderData: test.data}, &onPublic)
			if onResource.Diagnostics.HasError() != test.fails || onData.Diagnostics.HasError() != test.fails ||
				onPublic.Diagnostics.HasError() {
				t.Errorf("resource %v, data source %v, public %v", onResource.Diagnostics, onData.Diagnostics, onPublic.Diagnostics)
			}
			allows := func(require func(*diag.Diagnostics)) bool {
				var diags diag.Diagnostics
				require(&diags)
				return !diags.HasError()
			}
			if own, public := allows(own.RequireConfig), allows(public.RequireConfig); own != test.canRead ||
				public != test.publicRead {
				t.Errorf("data source %t, public %t", own, public)
			}
			if got, want := allows(public.RequireKey), test.canRead && !test.fails; got != want {
				t.Errorf("RequireKey of a public data source allows it: %t, want %t", got, want)
			}
		})
	}
}
