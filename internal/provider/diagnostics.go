package provider

import (
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// addFrameDumps reports that the CLI would log the provider configuration. The detail has no final period, because the
// CLIs quote it in a sentence.
func addFrameDumps(diags *diag.Diagnostics) {
	tfkit.AddError(diags, "Debug setting would log API keys",
		"The environment variable "+envGODEBUG+" contains "+frameDumps+". "+
			"With it, Terraform and OpenTofu can log what they send to providers, API keys included. "+
			"Unset it. TF_LOG_PROVIDER=DEBUG logs every request without secrets")
}

func addUnknownLanguage(diags *diag.Diagnostics, language string) {
	tfkit.AddAttributeError(diags, path.Root("language"), "Unknown language",
		tfkit.Textf("The environment variable %s is %q. Valid values: %s.",
			tfkit.Text(envLanguage), language, strings.Join(languages, ", ")))
}

// addUnusableConfig names the invalid setting and its source, but not its value, which may contain a secret.
func addUnusableConfig(diags *diag.Diagnostics, address, key setting, err error) {
	argument, source := "base_url", address.source
	if _, addressErr := rental.New(rental.Config{BaseURL: address.value}); addressErr == nil {
		argument, source = "api_key", key.source
	}
	tfkit.AddAttributeError(diags, path.Root(argument), "Cannot use the provider configuration", tfkit.Textf(
		"The value of %s comes from %s: %s. Correct it there, and run again.", argument, source, err))
}

func addNoAddressForKey(diags *diag.Diagnostics) {
	tfkit.AddAttributeError(diags, path.Root("base_url"), "Missing address of the service for the key in GPURENT_API_KEY",
		"The provider does not send this key to the address in the credentials file, which may be that of another service. "+
			"Set "+EnvBaseURL+" or the provider argument base_url to the address of the service that issued the key, or unset "+
			EnvAPIKey+" to use the login in the credentials file.")
}

func addNoAddress(diags *diag.Diagnostics, location string) {
	tfkit.AddAttributeError(diags, path.Root("base_url"), "Missing address of the service",
		tfkit.Textf("Set it in one of three ways: the provider argument base_url, the environment variable %s, or the "+
			"credentials file (%s), which \"terraform-provider-gpurent login\" writes.", tfkit.Text(EnvBaseURL), location))
}

func addCredentialsFile(diags *diag.Diagnostics, err error) {
	tfkit.AddError(diags, "Cannot use the credentials file", tfkit.Textf("%s.", err))
}

// unknownAtApply is the error of an apply without an address or a key.
var unknownAtApply = &tfprotov6.Diagnostic{
	Severity: tfprotov6.DiagnosticSeverityError,
	Summary:  "Provider configuration is unknown at apply",
	Detail: "The provider argument base_url or api_key depends on a resource that does not exist, such as an API key " +
		"that has expired. Nothing was changed. First apply that resource with -target, or replace the argument with " +
		EnvBaseURL + " or " + EnvAPIKey + ". Then run again.",
}
