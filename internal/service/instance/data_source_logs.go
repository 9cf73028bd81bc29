package instance

import (
	"cmp"
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ datasource.DataSourceWithConfigure = (*logsDataSource)(nil)

const (
	defaultTail = 200
	maxTail     = 1000
)

type logsDataSource struct{ tfkit.DataSource }

// NewLogs returns the data source gpurent_instance_logs.
func NewLogs() datasource.DataSource {
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
		MarkdownDescription: "Reads the last lines of the startup log of an instance, for example to find out why it " +
			"is not ready. Requires the scope `instances:read`.\n\nThe lines change as the log grows. It is an error if " +
			"the instance does not exist, or if the log is temporarily unavailable. In a `check` block, an error is only " +
			"a warning.",
		Attributes: map[string]schema.Attribute{
			"instance_id": schema.StringAttribute{
				Required: true, MarkdownDescription: "Id of the instance. Must not be empty.",
				Validators: []validator.String{tfkit.NotEmpty()},
			},
			"tail": schema.Int64Attribute{
				Optional: true, MarkdownDescription: "Maximum number of lines from the end of the log. Must be between 1 " +
					"and 1000. Defaults to `200`.",
				Validators: []validator.Int64{int64validator.Between(1, maxTail)},
			},
			"lines": schema.ListAttribute{
				Computed: true, ElementType: types.StringType,
				MarkdownDescription: "Lines of the log, as the API returns them. They can contain control characters.",
			},
		},
	}
}

// Read implements datasource.DataSource.
func (d *logsDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var config logsModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if d.RequireConfig(&resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	tail := cmp.Or(config.Tail.ValueInt64(), defaultTail)
	lines, err := d.Meta.Client.GetInstanceLogs(ctx, config.InstanceID.ValueString(), tail)
	if err != nil {
		tfkit.AddAPIError(&resp.Diagnostics, tfkit.Textf("read the log of instance %s", config.InstanceID.ValueString()), err)
		return
	}
	config.Lines = append([]string{}, lines...)
	resp.Diagnostics.Append(resp.State.Set(ctx, config)...)
}
