package instance

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// fixture is a simulator whose instances boot in three minutes, with a provider, in a synctest bubble.
type fixture struct {
	*testing.T
	*simulator.Simulator
	meta *tfkit.Meta
	// intercept, if set, responds instead of the simulator. A nil result passes the request to the simulator.
	intercept  func(*http.Request) (*http.Response, error)
	onProgress func(text string) // is called with each progress message of an action
}

func withFixture(t *testing.T, scenario func(*fixture)) {
	synctest.Test(t, func(t *testing.T) {
		key := "test" + strings.Repeat("0", 40)
		service, err := simulator.New(
			simulator.Config{Seed: 1, Boot: 3 * time.Minute, Market: simulator.MarketStill, APIKey: key},
		)
		if err != nil {
			t.Fatal(err)
		}
		f := &fixture{T: t, Simulator: service}
		client, err := rental.New(
			rental.Config{BaseURL: "https://rent.example/api/v1", APIKey: key, Transport: f, MaxRetries: 2},
		)
		if err != nil {
			t.Fatal(err)
		}
		f.meta = newMeta(client, spending.Limits{RequireFunds: spending.FundsWarn})
		scenario(f)
		time.Sleep(time.Hour) // until no goroutine is left
	})
}

// newMeta returns a configured provider.
func newMeta(client *rental.Client, limits spending.Limits) *tfkit.Meta {
	meta := &tfkit.Meta{PollInterval: 5 * time.Second}
	meta.SetClient(client, limits)
	return meta
}

func (f *fixture) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	if f.intercept != nil {
		if resp, err := f.intercept(req); resp != nil || err != nil {
			return resp, err
		}
	}
	return f.serve(req), nil
}

func (f *fixture) serve(req *http.Request) *http.Response {
	req = req.Clone(context.WithoutCancel(req.Context()))
	req.RemoteAddr = "127.0.0.1:1"
	if req.Body == nil {
		req.Body = http.NoBody
	}
	response := httptest.NewRecorder()
	f.Handler().ServeHTTP(response, req)
	resp := response.Result()
	resp.Request = req
	return resp
}

// createRunning creates an instance and returns it, running, with its offer.
func (f *fixture) createRunning(kind rental.RentalType) (rental.Instance, rental.Offer) {
	f.Helper()
	inst, offer := f.createInstance(kind)
	time.Sleep(time.Hour)
	return inst, offer
}

// createInstance creates an instance and returns it, still booting, with its offer.
func (f *fixture) createInstance(kind rental.RentalType) (rental.Instance, rental.Offer) {
	f.Helper()
	query := rental.OfferQuery{GPU: []string{"rtx_4090"}, Type: kind}
	for offer, err := range f.meta.Client.ListOffers(f.Context(), query) {
		if err != nil {
			f.Fatal(err)
		}
		inst, _, err := f.meta.Client.CreateInstance(
			f.Context(),
			"key",
			rental.InstanceCreate{OfferID: offer.ID, Template: "pytorch", DiskGB: 60, Type: kind},
		)
		if err != nil {
			f.Fatal(err)
		}
		return inst, offer
	}
	f.Fatal("there is no offer")
	return rental.Instance{}, rental.Offer{}
}

// countChanges returns the numbers of start and stop requests, and resets them.
func (f *fixture) countChanges() (starts, stops int) {
	for _, r := range f.Requests() {
		if strings.HasSuffix(r.Path, "/start") {
			starts++
		} else if strings.HasSuffix(r.Path, "/stop") {
			stops++
		}
	}
	f.ClearRequests()
	return starts, stops
}

func (f *fixture) get(id string) rental.Instance {
	f.Helper()
	inst, err := f.meta.Client.GetInstance(context.WithoutCancel(f.Context()), id)
	if err != nil {
		f.Fatal(err)
	}
	return inst
}

func (f *fixture) setStatus(id, status, desired, reason string) {
	f.Helper()
	err := f.SetInstance(id, simulator.InstancePatch{Status: &status, DesiredState: &desired, StopReason: &reason})
	if err != nil {
		f.Fatal(err)
	}
}

// invoke runs an action, and returns its progress messages with their times, and its errors as one text.
func (f *fixture) invoke(
	ctx context.Context,
	newAction action.Action,
	id string,
	maxPrice int64,
) (progress []string, times []time.Duration, errs string) {
	f.Helper()
	arguments := map[string]any{"instance_id": id}
	if maxPrice > 0 {
		arguments["max_price_kop_h"] = maxPrice
	}
	return f.invokeWith(ctx, newAction, arguments)
}

// invokeWith is invoke with any arguments.
func (f *fixture) invokeWith(
	ctx context.Context,
	newAction action.Action,
	arguments map[string]any,
) (progress []string, times []time.Duration, errs string) {
	f.Helper()
	start := time.Now()
	resp := action.InvokeResponse{SendProgress: func(event action.InvokeProgressEvent) {
		progress, times = append(progress, event.Message), append(times, time.Since(start))
		if ctx.Err() != nil {
			f.Errorf("message %q after the interruption, at which Terraform 1.15 crashes", event.Message)
		}
		if f.onProgress != nil {
			f.onProgress(event.Message)
		}
	}}
	a := f.configured(newAction)
	a.Invoke(ctx, action.InvokeRequest{Config: actionConfig(ctx, a, arguments)}, &resp)
	for _, d := range resp.Diagnostics.Errors() {
		errs += d.Summary() + ": " + d.Detail() + "\n"
	}
	return progress, times, errs
}

// plan plans an action, and returns its diagnostics as one text.
func (f *fixture) plan(ctx context.Context, newAction action.Action, arguments map[string]any) (diagnostics string) {
	f.Helper()
	var resp action.ModifyPlanResponse
	a := f.configured(newAction)
	a.ModifyPlan(ctx, action.ModifyPlanRequest{Config: actionConfig(ctx, a, arguments)}, &resp)
	for _, d := range resp.Diagnostics {
		diagnostics += d.Severity().String() + ": " + d.Summary() + ": " + d.Detail() + "\n"
	}
	return diagnostics
}

func (f *fixture) configured(newAction action.Action) *instanceAction {
	f.Helper()
	a, ok := newAction.(*instanceAction)
	if !ok {
		f.Fatalf("the action is a %T", newAction)
	}
	a.Meta = f.meta
	return a
}

// actionConfig returns a configuration of an action. An argument that is not given is null.
func actionConfig(ctx context.Context, a *instanceAction, arguments map[string]any) tfsdk.Config {
	var schema action.SchemaResponse
	a.Schema(ctx, action.SchemaRequest{}, &schema)
	values := map[string]tftypes.Value{}
	for name, attribute := range schema.Schema.GetAttributes() {
		values[name] = tftypes.NewValue(attribute.GetType().TerraformType(ctx), arguments[name])
	}
	return tfsdk.Config{Schema: schema.Schema, Raw: tftypes.NewValue(schema.Schema.Type().TerraformType(ctx), values)}
}

func (f *fixture) expectContains(text string, all ...string) {
	f.Helper()
	for _, want := range all {
		if !strings.Contains(text, want) {
			f.Errorf("%q is not in:\n%s", want, text)
		}
	}
}
