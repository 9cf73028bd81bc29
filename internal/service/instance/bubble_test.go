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

// bubble is a simulator whose instances boot in three minutes, and a provider, in a synctest bubble.
type bubble struct {
	*testing.T
	*simulator.Simulator
	meta *tfkit.Meta
	// intercept, if set, answers in place of the simulator. Nil leaves the request to the simulator.
	intercept  func(*http.Request) (*http.Response, error)
	onProgress func(text string) // is called with each progress message of an action
}

func inBubble(t *testing.T, story func(*bubble)) {
	synctest.Test(t, func(t *testing.T) {
		key := "test" + strings.Repeat("0", 40)
		service, err := simulator.New(simulator.Config{Seed: 1, Boot: 3 * time.Minute, Market: simulator.MarketStill, APIKey: key})
		if err != nil {
			t.Fatal(err)
		}
		b := &bubble{T: t, Simulator: service}
		client, err := rental.New(rental.Config{BaseURL: "https://rent.example/api/v1", APIKey: key, Transport: b, MaxRetries: 2})
		if err != nil {
			t.Fatal(err)
		}
		b.meta = newMeta(client, spending.Limits{RequireFunds: spending.FundsWarn})
		story(b)
		time.Sleep(time.Hour) // until no goroutine is left
	})
}

// newMeta returns a configured provider.
func newMeta(client *rental.Client, limits spending.Limits) *tfkit.Meta {
	meta := &tfkit.Meta{PollInterval: 5 * time.Second}
	meta.SetClient(client, limits)
	return meta
}

func (b *bubble) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	if b.intercept != nil {
		if resp, err := b.intercept(req); resp != nil || err != nil {
			return resp, err
		}
	}
	return b.serve(req), nil
}

func (b *bubble) serve(req *http.Request) *http.Response {
	req = req.Clone(context.WithoutCancel(req.Context()))
	req.RemoteAddr = "127.0.0.1:1"
	if req.Body == nil {
		req.Body = http.NoBody
	}
	answer := httptest.NewRecorder()
	b.Handler().ServeHTTP(answer, req)
	resp := answer.Result()
	resp.Request = req
	return resp
}

// running returns an instance that runs, and its offer.
func (b *bubble) running(kind rental.RentalType) (rental.Instance, rental.Offer) {
	b.Helper()
	inst, offer := b.creating(kind)
	time.Sleep(time.Hour)
	return inst, offer
}

// creating returns an instance that is being created, and its offer.
func (b *bubble) creating(kind rental.RentalType) (rental.Instance, rental.Offer) {
	b.Helper()
	for offer, err := range b.meta.Client.ListOffers(b.Context(), rental.OfferQuery{GPU: []string{"rtx_4090"}, Type: kind}) {
		if err != nil {
			b.Fatal(err)
		}
		inst, _, err := b.meta.Client.CreateInstance(b.Context(), "key", rental.InstanceCreate{OfferID: offer.ID, Template: "pytorch", DiskGB: 60, Type: kind})
		if err != nil {
			b.Fatal(err)
		}
		return inst, offer
	}
	b.Fatal("there is no offer")
	return rental.Instance{}, rental.Offer{}
}

// changes counts the requests to start and to stop instances, and clears them.
func (b *bubble) changes() (starts, stops int) {
	for _, r := range b.Requests() {
		if strings.HasSuffix(r.Path, "/start") {
			starts++
		} else if strings.HasSuffix(r.Path, "/stop") {
			stops++
		}
	}
	b.ClearRequests()
	return starts, stops
}

func (b *bubble) read(id string) rental.Instance {
	b.Helper()
	inst, err := b.meta.Client.GetInstance(context.WithoutCancel(b.Context()), id)
	if err != nil {
		b.Fatal(err)
	}
	return inst
}

func (b *bubble) force(id, status, desired, reason string) {
	b.Helper()
	if err := b.SetInstance(id, simulator.InstancePatch{Status: &status, DesiredState: &desired, StopReason: &reason}); err != nil {
		b.Fatal(err)
	}
}

// invoke runs an action, and returns its progress messages with their times, and its errors as one text.
func (b *bubble) invoke(ctx context.Context, made action.Action, id string, maxPrice int64) (said []string, when []time.Duration, failed string) {
	b.Helper()
	arguments := map[string]any{"instance_id": id}
	if maxPrice > 0 {
		arguments["max_price_kop_h"] = maxPrice
	}
	return b.invokeWith(ctx, made, arguments)
}

// invokeWith is invoke with any arguments.
func (b *bubble) invokeWith(ctx context.Context, made action.Action, arguments map[string]any) (said []string, when []time.Duration, failed string) {
	b.Helper()
	began := time.Now()
	resp := action.InvokeResponse{SendProgress: func(event action.InvokeProgressEvent) {
		said, when = append(said, event.Message), append(when, time.Since(began))
		if b.onProgress != nil {
			b.onProgress(event.Message)
		}
	}}
	a := b.configured(made)
	a.Invoke(ctx, action.InvokeRequest{Config: actionConfig(ctx, a, arguments)}, &resp)
	for _, d := range resp.Diagnostics.Errors() {
		failed += d.Summary() + ": " + d.Detail() + "\n"
	}
	return said, when, failed
}

// plan plans an action, and returns its diagnostics as one text.
func (b *bubble) plan(ctx context.Context, made action.Action, arguments map[string]any) (diagnostics string) {
	b.Helper()
	var resp action.ModifyPlanResponse
	a := b.configured(made)
	a.ModifyPlan(ctx, action.ModifyPlanRequest{Config: actionConfig(ctx, a, arguments)}, &resp)
	for _, d := range resp.Diagnostics {
		diagnostics += d.Severity().String() + ": " + d.Summary() + ": " + d.Detail() + "\n"
	}
	return diagnostics
}

func (b *bubble) configured(made action.Action) *instanceAction {
	b.Helper()
	a, ok := made.(*instanceAction)
	if !ok {
		b.Fatalf("the action is a %T", made)
	}
	a.Meta = b.meta
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

func (b *bubble) contains(text string, all ...string) {
	b.Helper()
	for _, want := range all {
		if !strings.Contains(text, want) {
			b.Errorf("%q is not in:\n%s", want, text)
		}
	}
}
