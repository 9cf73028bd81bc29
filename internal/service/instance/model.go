package instance

import (
	"context"
	"reflect"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// The arguments that apply only at creation.
const (
	argOfferID    = "offer_id"
	argOfferQuery = "offer_query"
	argSSHKeyIDs  = "ssh_key_ids"
)

const (
	argWaitForOffer    = "wait_for_offer"
	argFallbackQueries = "fallback_queries"
	argIdempotencyKey  = "idempotency_key"
)

// model is the resource in configuration, plan and state.
type model struct {
	tfinstance.Arguments

	OfferID         types.String   `tfsdk:"offer_id"`
	OfferQuery      types.Object   `tfsdk:"offer_query"`
	FallbackQueries types.List     `tfsdk:"fallback_queries"`
	Name            types.String   `tfsdk:"name"`
	ReplaceOn       types.Set      `tfsdk:"replace_on"`
	IdempotencyKey  types.String   `tfsdk:"idempotency_key"`
	KeepOnTimeout   types.Bool     `tfsdk:"keep_on_timeout"`
	Timeouts        timeouts.Value `tfsdk:"timeouts"`

	computed
}

// computed are the attributes that only the provider sets.
type computed struct {
	RentedOfferID types.String `tfsdk:"rented_offer_id"`
	RentedOffer   types.Object `tfsdk:"rented_offer"`
	MatchedQuery  types.Int64  `tfsdk:"matched_query"`
	QuotedKopH    types.Int64  `tfsdk:"quoted_kop_h"`
	TemplateName  types.String `tfsdk:"template_name"`

	common
}

// common are the attributes that the resource and the data sources share: see tfinstance.Attributes.
type common struct {
	ID         types.String `tfsdk:"id"`
	Status     types.String `tfsdk:"status"`
	StopReason types.String `tfsdk:"stop_reason"`
	GPU        types.Object `tfsdk:"gpu"`
	Country    types.String `tfsdk:"country"`
	Price      types.Object `tfsdk:"price"`
	SSH        types.Object `tfsdk:"ssh"`
	URLs       types.List   `tfsdk:"urls"`
	CreatedAt  types.String `tfsdk:"created_at"`
	StartedAt  types.String `tfsdk:"started_at"`
}

// fromAPI returns the state of an instance. Optional fields that the API omits keep their prior values.
func fromAPI(prior model, inst rental.Instance) model {
	m := prior
	m.ID = types.StringValue(inst.ID)
	same := inst.Omitted.Name || tfkit.SameText(prior.Name.ValueString(), inst.NameString())
	if !same || prior.Name.IsUnknown() {
		m.Name = types.StringPointerValue(inst.Name)
	}
	m.Status = types.StringValue(string(inst.Status))
	// A stop in the console appears as drift.
	m.DesiredState = tfkit.ValueOrPrior(tfkit.OptionalString(tfinstance.DesiredState(inst)), prior.DesiredState)
	m.Type = tfkit.PriorOrValue(prior.Type, tfkit.OptionalString(inst.Type))
	m.Template = tfkit.PriorOrValue(prior.Template, tfkit.OptionalString(inst.Template.Slug))
	m.TemplateName = tfkit.ValueOrPrior(tfkit.OptionalString(inst.Template.Name), prior.TemplateName)
	m.Image = tfkit.PriorOrValue(prior.Image, tfkit.OptionalString(inst.Image))
	m.DiskGB = tfkit.PriorOrValue(prior.DiskGB, tfkit.OptionalInt64(inst.DiskGB))
	m.StopReason = stopReason(prior, inst)
	m.Country = tfkit.ValueOrPrior(types.StringPointerValue(inst.Country), prior.Country)
	m.CreatedAt = tfkit.ValueOrPrior(tfkit.Time(inst.CreatedAt), prior.CreatedAt)
	m.StartedAt = tfkit.ValueOrPrior(tfkit.TimePointer(inst.StartedAt), prior.StartedAt)
	m.GPU = tfinstance.GPUValue(inst.GPU, prior.GPU)
	m.Price = tfinstance.PriceValue(inst.Price)
	m.SSH, m.URLs = tfinstance.SSHValue(inst.SSH), tfinstance.URLsValue(inst.URLs)
	if prior.RentedOffer.IsNull() { // the API does not return it
		m.RentedOffer = noRentedOffer
	}
	if running := inst.Status == rental.StatusRunning; running && prior.Status.Equal(m.Status) {
		if inst.Omitted.SSH && !prior.SSH.IsUnknown() {
			m.SSH = prior.SSH
		}
		if inst.Omitted.URLs && !prior.URLs.IsUnknown() && !prior.URLs.IsNull() {
			m.URLs = prior.URLs
		}
	}
	return m
}

// stopReason keeps the prior reason of an instance that does not run if the API omits it.
func stopReason(prior model, inst rental.Instance) types.String {
	keeps := inst.Omitted.StopReason && !prior.StopReason.IsUnknown() &&
		prior.Status.Equal(types.StringValue(string(inst.Status)))
	if keeps && inst.Status != rental.StatusRunning {
		return prior.StopReason
	}
	return types.StringPointerValue(inst.StopReason)
}

// applied returns the state after an apply: the planned values, and the actual values of attributes that were unknown.
func applied(plan model, inst rental.Instance) model {
	m, now := plan, fromAPI(plan, inst)
	into, actual := reflect.ValueOf(&m).Elem(), reflect.ValueOf(now)
	for _, field := range reflect.VisibleFields(into.Type()) {
		if field.Anonymous {
			continue
		}
		planned, ok := reflect.TypeAssert[attr.Value](into.FieldByIndex(field.Index))
		if ok && planned.IsUnknown() {
			into.FieldByIndex(field.Index).Set(actual.FieldByIndex(field.Index))
		}
	}
	return m
}

// demand returns the demand for the offer of the planned instance.
func (m model) demand() market.Demand {
	return market.Demand{
		Queries: m.queries(), OfferID: m.OfferID.ValueString(), Count: 1, Wait: m.Wait(), Request: m.Order(),
		MaxPriceKopH: m.MaxPriceKopH.ValueInt64(),
	}
}

// toOrder returns the order for the planned instance.
func (m model) toOrder(seed lifecycle.KeySeed, object lifecycle.Object, recoverWithin time.Duration) lifecycle.Order {
	order := lifecycle.Order{
		Request: m.Order(), ExpectedImage: m.Image.ValueString(), MaxPriceKopH: m.MaxPriceKopH.ValueInt64(), Seed: seed,
		Object: object, RecoverWithin: recoverWithin,
	}
	order.Request.Name = m.Name.ValueString()
	return order
}

// createTimeout returns timeouts.create. By default, the wait for an offer does not shorten the wait for the instance.
func (m model) createTimeout(ctx context.Context) (time.Duration, diag.Diagnostics) {
	return m.Timeouts.Create(ctx, createTimeout+m.Wait())
}

// target returns the planned state of an existing instance.
func (m model) target() lifecycle.Target {
	return lifecycle.Target{
		State:        rental.DesiredState(m.DesiredState.ValueString()),
		OnOutbid:     lifecycle.OutbidPolicy(m.OnOutbid.ValueString()),
		MaxPriceKopH: m.MaxPriceKopH.ValueInt64(),
		OfferID:      m.RentedOfferID.ValueString(),
		Template:     m.Template.ValueString(),
		Ready:        m.Conditions(),
	}
}

// instance returns the instance of a state with its type, its status, its prices and its hardware only.
func (m model) instance() rental.Instance {
	gpu, price := m.GPU.Attributes(), m.Price.Attributes()
	vram, _ := gpu["vram_gb"].(types.Int64)
	return rental.Instance{
		ID: m.ID.ValueString(), Type: rental.RentalType(m.Type.ValueString()),
		Status:       rental.InstanceStatus(m.Status.ValueString()),
		DesiredState: rental.DesiredState(m.DesiredState.ValueString()),
		Price: rental.InstancePrice{
			RunningKopH: tfkit.Int64Of(price["running_kop_h"]), StoppedKopH: tfkit.Int64Of(price["stopped_kop_h"]),
		},
		GPU: rental.InstanceGPU{
			Slug: tfkit.StringOf(gpu["slug"]), Count: tfkit.Int64Of(gpu["count"]), VRAMGB: vram.ValueInt64Pointer(),
		},
		Country: m.Country.ValueStringPointer(),
	}
}

// queries returns offer_query and fallback_queries in order of preference. It omits unknown filters and unknown
// queries.
func (m model) queries() []rental.OfferQuery {
	return m.Queries(append([]attr.Value{m.OfferQuery}, m.FallbackQueries.Elements()...))
}
