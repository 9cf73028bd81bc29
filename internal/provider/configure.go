package provider

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/gpurent/terraform-provider-gpurent/internal/credentials"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Environment variables that set arguments.
const (
	EnvBaseURL  = "GPURENT_BASE_URL"
	EnvAPIKey   = "GPURENT_API_KEY"
	envLanguage = "GPURENT_LANGUAGE"
)

const (
	defaultPollInterval = 5 * time.Second
	defaultRecovery     = time.Hour
	maxRetriesLimit     = 100
)

var languages = []string{"en", "ru"}

// model is the provider block.
type model struct {
	BaseURL           types.String `tfsdk:"base_url"`
	APIKey            types.String `tfsdk:"api_key"`
	Language          types.String `tfsdk:"language"`
	PollInterval      types.String `tfsdk:"poll_interval"`
	RequestTimeout    types.String `tfsdk:"request_timeout"`
	MaxRetries        types.Int64  `tfsdk:"max_retries"`
	IdempotencyPrefix types.String `tfsdk:"idempotency_prefix"`
	RecoverWithin     types.String `tfsdk:"recover_within"`
	Spending          types.Object `tfsdk:"spending"`
}

// Configure implements provider.Provider.
func (p *gpurentProvider) Configure(
	ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse,
) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	meta := p.newMeta(config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	p.meta.Store(meta)
	resp.ResourceData = meta
	resp.DataSourceData = meta
	resp.EphemeralResourceData = meta
	resp.ListResourceData = meta
	resp.ActionData = meta
}

// limitsOf returns the spending limits. Unknown values are the defaults.
func limitsOf(block types.Object) spending.Limits {
	limits := block.Attributes()
	return spending.Limits{
		RequireFunds: cmp.Or(spending.FundsPolicy(tfkit.StringOf(limits["require_funds"])), spending.FundsWarn),
		MaxBurnKopH:  tfkit.Int64Of(limits["max_burn_kop_h"]),
	}
}

// newMeta returns the data of the configured provider for its services. At plan, the address or the key may be unknown,
// because it depends on a resource of the same configuration. Without an address, the result has no client.
func (p *gpurentProvider) newMeta(config model, diags *diag.Diagnostics) *tfkit.Meta {
	meta := &tfkit.Meta{
		PollInterval: duration(config.PollInterval, defaultPollInterval),
		KeyUnknown:   config.APIKey.IsUnknown(),
		Cleanup:      &p.process.cleanup,

		IdempotencyPrefix: config.IdempotencyPrefix,
		RecoverWithin:     duration(config.RecoverWithin, defaultRecovery),
	}
	if config.BaseURL.IsUnknown() {
		return meta
	}
	address, key := resolve(config, diags)
	language := cmp.Or(config.Language.ValueString(), Getenv(envLanguage), languages[0])
	if !slices.Contains(languages, language) {
		addUnknownLanguage(diags, language)
	}
	if diags.HasError() {
		return nil
	}
	client, err := rental.New(rental.Config{
		BaseURL:        address.value,
		APIKey:         key.value,
		KeySource:      key.source,
		Language:       language,
		UserAgent:      "terraform-provider-gpurent/" + p.version,
		RequestTimeout: duration(config.RequestTimeout, rental.DefaultRequestTimeout),
		MaxRetries:     retries(config.MaxRetries),
		Log:            logRequest,
	})
	if err != nil {
		addUnusableConfig(diags, address, key, err)
		return nil
	}
	meta.KeyStart = tfkit.KeyStart(key.value)
	meta.SetClient(client, limitsOf(config.Spending))
	return meta
}

// setting is a value and where it comes from.
type setting struct{ value, source string }

// configured returns an argument, else the environment variable, without white space around it.
func configured(name string, argument types.String, variable string) setting {
	if value := strings.TrimSpace(argument.ValueString()); value != "" {
		return setting{value, "the provider argument " + name}
	}
	return setting{Getenv(variable), "the environment variable " + variable}
}

// resolve returns the address and the API key: the arguments, else the environment, else the credentials file, which is
// read only if one of them is missing. It removes white space around them; a value of white space only is missing.
//
// resolve never combines a key from the environment with the address in the file. The environment of a shell or a job
// keeps its key while the current login changes, so the two may belong to different services. A key in the provider
// block is meant for this configuration, and may go to the address in the file. This makes ephemeral keys work after a
// login.
func resolve(config model, diags *diag.Diagnostics) (address, key setting) {
	address = configured("base_url", config.BaseURL, EnvBaseURL)
	if !config.APIKey.IsUnknown() {
		key = configured("api_key", config.APIKey, EnvAPIKey)
	}
	if address.value != "" && (key.value != "" || config.APIKey.IsUnknown()) {
		return address, key
	}
	keyInArgument := strings.TrimSpace(config.APIKey.ValueString()) != ""
	if address.value == "" && key.value != "" && !keyInArgument {
		addNoAddressForKey(diags)
		return address, key
	}
	file, location := loadCredentials(diags)
	source := "the credentials file " + location
	if address.value == "" {
		address = setting{file.Current, source}
	}
	if address.value == "" && !diags.HasError() {
		addNoAddress(diags, location)
	}
	if key.value == "" && !config.APIKey.IsUnknown() {
		key = setting{file.Key(address.value), source}
	}
	return address, key
}

// Getenv returns the value of an environment variable without white space around it. A secret that is read from a
// file often ends with a line break.
func Getenv(name string) string { return strings.TrimSpace(os.Getenv(name)) }

func loadCredentials(diags *diag.Diagnostics) (file credentials.File, location string) {
	location, err := credentials.Path()
	if err != nil {
		// A machine without a home folder, such as a container, has no credentials file.
		return credentials.File{}, "this machine has no folder for it"
	}
	if file, err = credentials.Load(location); err != nil {
		addCredentialsFile(diags, err)
	}
	return file, location
}

// retries converts the argument to that of the client, where zero means the default.
func retries(configured types.Int64) int {
	switch {
	case configured.IsNull(), configured.IsUnknown():
		return rental.DefaultMaxRetries
	case configured.ValueInt64() == 0:
		return -1
	}
	return int(configured.ValueInt64())
}

// duration returns the validated argument, or the default if it is null or unknown.
func duration(configured types.String, defaultValue time.Duration) time.Duration {
	if d, err := time.ParseDuration(configured.ValueString()); err == nil {
		return d
	}
	return defaultValue
}

func logRequest(ctx context.Context, message string, fields map[string]any) {
	tflog.Debug(ctx, message, fields)
}
