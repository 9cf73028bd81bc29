package provider

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/gpurent/terraform-provider-gpurent/internal/credentials"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Environment variables that stand in for arguments.
const (
	EnvBaseURL  = "GPURENT_BASE_URL"
	EnvAPIKey   = "GPURENT_API_KEY"
	envLanguage = "GPURENT_LANGUAGE"
)

const (
	defaultPollInterval = 5 * time.Second
	maxRetriesLimit     = 100
)

var languages = []string{"en", "ru"}

type model struct {
	BaseURL        types.String `tfsdk:"base_url"`
	APIKey         types.String `tfsdk:"api_key"`
	Language       types.String `tfsdk:"language"`
	PollInterval   types.String `tfsdk:"poll_interval"`
	RequestTimeout types.String `tfsdk:"request_timeout"`
	MaxRetries     types.Int64  `tfsdk:"max_retries"`
	Spending       types.Object `tfsdk:"spending"`
}

type spendingModel struct {
	RequireFunds types.String `tfsdk:"require_funds"`
	MaxBurnKopH  types.Int64  `tfsdk:"max_burn_kop_h"`
}

// Configure implements provider.Provider.
func (p *gpurentProvider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	if p.process.protocolDataWithheld {
		warnProtocolDataWithheld(&resp.Diagnostics)
	}
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	meta := p.meta(config, &resp.Diagnostics)
	spending, diags := spending(ctx, config.Spending)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	meta.Spending = spending
	meta.Run = tfkit.NewRun(p.validated.Swap(false))
	resp.ResourceData = meta
	resp.DataSourceData = meta
	resp.EphemeralResourceData = meta
	resp.ListResourceData = meta
	resp.ActionData = meta
}

// spending is what the block says; what is not known yet checks as by default.
func spending(ctx context.Context, block types.Object) (tfkit.Spending, diag.Diagnostics) {
	s := tfkit.Spending{RequireFunds: tfkit.FundsWarn}
	if block.IsNull() || block.IsUnknown() {
		return s, nil
	}
	var m spendingModel
	diags := block.As(ctx, &m, basetypes.ObjectAsOptions{})
	s.RequireFunds = cmp.Or(m.RequireFunds.ValueString(), s.RequireFunds)
	s.MaxBurnKopH = m.MaxBurnKopH.ValueInt64()
	return s, diags
}

// meta makes the client. What is not known at plan is left out of it rather
// than refused: a key may come from a resource of the same configuration.
func (p *gpurentProvider) meta(config model, diags *diag.Diagnostics) *tfkit.Meta {
	meta := &tfkit.Meta{
		PollInterval: duration(config.PollInterval, defaultPollInterval),
		KeyUnknown:   config.APIKey.IsUnknown(),
		Cleanup:      &p.process.cleanup,
	}
	if config.BaseURL.IsUnknown() {
		return meta
	}
	address, key := resolve(config, diags)
	language := cmp.Or(config.Language.ValueString(), os.Getenv(envLanguage), languages[0])
	if !slices.Contains(languages, language) {
		diags.AddAttributeError(path.Root("language"), "Unknown language",
			"The environment variable "+envLanguage+" is "+strconv.Quote(tfkit.OneLine(language))+", but the service knows only "+strings.Join(languages, " and ")+".")
	}
	if diags.HasError() {
		return nil
	}
	client, err := rental.New(rental.Config{
		BaseURL:        address,
		APIKey:         key,
		Language:       language,
		UserAgent:      "terraform-provider-gpurent/" + p.version,
		RequestTimeout: duration(config.RequestTimeout, rental.DefaultRequestTimeout),
		MaxRetries:     retries(config.MaxRetries),
		Budgets:        &p.process.budgets,
		Log:            logRequest,
	})
	if err != nil {
		diags.AddAttributeError(path.Root("base_url"), "Cannot use the provider configuration",
			err.Error()+". What is not in the provider block comes from "+EnvBaseURL+" and "+EnvAPIKey+", else from the credentials file.")
		return nil
	}
	meta.Client, meta.KeyStart = client, tfkit.KeyStart(key)
	return meta
}

// resolve finds address and key: the arguments, else the environment, else the credentials file, which is read only when
// something is missing.
//
// A key from the environment is never sent to the address in the file. The environment keeps a key for as long as a shell
// or a job runs, while the current login changes, so that the two may belong to different services. A key in the provider
// block is chosen for this configuration and may go to the file's address: ephemeral keys work after a login.
func resolve(config model, diags *diag.Diagnostics) (address, key string) {
	address = cmp.Or(config.BaseURL.ValueString(), os.Getenv(EnvBaseURL))
	keyFromEnvironment := false
	if !config.APIKey.IsUnknown() {
		key = cmp.Or(config.APIKey.ValueString(), os.Getenv(EnvAPIKey))
		keyFromEnvironment = key != config.APIKey.ValueString()
	}
	if address != "" && (key != "" || config.APIKey.IsUnknown()) {
		return address, key
	}
	if address == "" && keyFromEnvironment {
		diags.AddAttributeError(path.Root("base_url"), "Missing address of the service for the key in "+EnvAPIKey,
			"The API key comes from the environment variable "+EnvAPIKey+". The provider sends it only to an address from the "+
				"provider argument base_url or the environment variable "+EnvBaseURL+", never to the address in the "+
				"credentials file, which may be that of another service.\n\nSet "+EnvBaseURL+" or base_url to the address of "+
				"the service that issued the key, or unset "+EnvAPIKey+" to use the login in the credentials file.")
		return "", ""
	}
	file, place := loadCredentials(diags)
	if address == "" {
		address = file.Current
	}
	if address == "" && !diags.HasError() {
		diags.AddAttributeError(path.Root("base_url"), "Missing address of the service",
			"Give it in one of three ways: the provider argument base_url, the environment variable "+EnvBaseURL+
				", or the credentials file ("+place+"), which \"terraform-provider-gpurent login\" writes.")
	}
	if key == "" && !config.APIKey.IsUnknown() {
		key = file.Key(address)
	}
	return address, key
}

func loadCredentials(diags *diag.Diagnostics) (file credentials.File, place string) {
	place, err := credentials.Path()
	if err != nil {
		// A machine without a home, such as a container: there is no file then.
		return credentials.File{}, "there is no folder for it on this machine"
	}
	if file, err = credentials.Load(place); err != nil {
		diags.AddError("Cannot use the credentials file", err.Error()+".")
	}
	return file, place
}

// retries maps the argument to the client's, where zero means the default.
func retries(configured types.Int64) int {
	switch {
	case configured.IsNull(), configured.IsUnknown():
		return rental.DefaultMaxRetries
	case configured.ValueInt64() == 0:
		return -1
	}
	return int(configured.ValueInt64())
}

// duration is the validated argument, or otherwise where there is none yet.
func duration(configured types.String, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(configured.ValueString()); err == nil && d > 0 {
		return d
	}
	return otherwise
}

func logRequest(ctx context.Context, message string, fields map[string]any) {
	tflog.Debug(ctx, message, fields)
}
