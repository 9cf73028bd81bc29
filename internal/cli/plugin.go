package cli

import (
	"errors"
	"os"
	"runtime/debug"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
)

// registryHost completes the provider's address for a debugger to attach to.
const registryHost = "registry.terraform.io/"

// garbage is how much of it, in percent of what is in use, is left to gather before
// it is collected. A plugin lives for seconds, little of what it makes is in use for
// long, and collecting it as eagerly as by default is a quarter of its work.
const garbage = 400

// roomy is how much memory, in bytes, may be taken for that. Beyond it garbage is
// collected more often: a CI runner has better use for the rest.
const roomy = 96 << 20

// servePlugin hands over to the plugin protocol, which handles signals itself:
// the CLI that started the plugin decides when it stops.
func servePlugin(debugger bool) error {
	if err := limitLog(); err != nil {
		return err
	}
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(garbage)
		debug.SetMemoryLimit(roomy)
	}
	made, err := provider.Server(version)()
	if err != nil {
		return err
	}
	var options []tf6server.ServeOpt
	if debugger {
		options = append(options, tf6server.WithManagedDebug())
	}
	report := measure()
	err = tf6server.Serve(registryHost+provider.Address, func() tfprotov6.ProviderServer { return made }, options...)
	return errors.Join(err, report())
}
