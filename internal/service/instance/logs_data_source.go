package instance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ datasource.DataSourceWithConfigure = (*logsDataSource)(nil)

// defaultTail is tail where it does not say, maxTail the service's bound.
const (
	defaultTail = 200
	maxTail     = 1000
)

type logsDataSource struct{ tfkit.DataSource }

func newLogs() datasource.DataSource {
	return &logsDataSource{tfkit.DataSource{Name: "instance_logs"}}
}

type logsModel struct {
	InstanceID types.String `tfsdk:"instance_id"`
	Tail       types.Int64  `tfsdk:"tail"`
	Lines      []string     `tfsdk:"lines"`
}

// Schema implements datasource.DataSource.
func (d *logsDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The end of a server's startup log, for example to see why it does not get ready. Needs the scope `instances:read`.\n\n" +
			"It changes between plans as the log grows. A server that is destroyed has no log any more, and while a host is away its servers' logs cannot be read: " +
			"both are errors, which only warn where the data source stands within a `check` block.",
		Attributes: map[string]schema.Attribute{
			"instance_id": schema.StringAttribute{
				Required: true, MarkdownDescription: "Id of the instance.",
				Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"tail": schema.Int64Attribute{
				Optional: true, MarkdownDescription: "How many lines at the end of the log to read, 1 to 1000, 200 by default.",
				Validators: []validator.Int64{int64validator.Between(1, maxTail)},
			},
			"lines": schema.ListAttribute{
				Computed: true, ElementType: types.StringType,
				MarkdownDescription: "The lines, oldest first, exactly as the service sent them: whatever the server has printed, control characters included, stands in the state.",
			},
		},
	}
}

// Read implements datasource.DataSource.
func (d *logsDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	defer tfkit.MakePlain(&resp.Diagnostics)
	var config logsModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() || !d.CanRead(&resp.Diagnostics) {
		return
	}
	tail := int64(defaultTail)
	if !config.Tail.IsNull() {
		tail = config.Tail.ValueInt64()
	}
	lines, err := d.Meta.Client.GetInstanceLogs(ctx, config.InstanceID.ValueString(), tail)
	if err != nil {
		tfkit.AddError(&resp.Diagnostics, "read the log of instance "+config.InstanceID.ValueString(), err)
		return
	}
	config.Lines = append([]string{}, lines...)
	resp.Diagnostics.Append(resp.State.Set(ctx, config)...)
}
