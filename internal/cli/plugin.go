package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
)

// The registries of Terraform and OpenTofu, which complete the address of the provider.
const (
	registryHost     = "registry.terraform.io/"
	tofuRegistryHost = "registry.opentofu.org/"
)

// gcPercent is the value of GOGC for the plugin. The plugin runs for seconds and most allocations are short-lived: with
// the default of 100, a quarter of its CPU time is garbage collection.
const gcPercent = 400

// Limits for the cleanup at the end of the process, such as the revocation of ephemeral API keys.
const (
	// shutdownTimeout applies if the CLI has ended the plugin: it kills the plugin after two seconds.
	shutdownTimeout = 1500 * time.Millisecond
	// orphanTimeout applies if the CLI has died.
	orphanTimeout = 30 * time.Second
)

// servePlugin serves the plugin protocol until the CLI ends it. It ignores the end of ctx, which is a signal: the
// plugin library handles signals. If the CLI dies, servePlugin returns, because nothing can save the results of the
// plugin. In debug mode, it prints how a CLI attaches to it, and serves until a signal.
func servePlugin(ctx context.Context, debugMode bool, stdout io.Writer) error {
	if err := limitLogLevel(); err != nil {
		return err
	}
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(gcPercent)
	}
	plugin, err := provider.NewPlugin(version)
	if err != nil {
		return err
	}
	var options []tf6server.ServeOpt
	var orphaned <-chan struct{} // in debug mode, the process outlives its parent
	if debugMode {
		started := make(chan *goplugin.ReattachConfig)
		options = append(options, tf6server.WithDebug(ctx, started, nil))
		go func() { printReattach(stdout, <-started) }()
	} else {
		ignoreSignals()
		orphaned = parentExit()
	}
	log := newLog()
	served := make(chan error, 1)
	go func() {
		server := func() tfprotov6.ProviderServer { return plugin }
		served <- tf6server.Serve(registryHost+provider.Address, server, options...)
	}()
	timeout := shutdownTimeout
	select {
	case err = <-served:
	case <-orphaned:
		timeout = orphanTimeout
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	for _, failed := range plugin.Finish(ctx) {
		log.Warn("Cleanup at shutdown failed", "error", failed)
	}
	return err
}

// ignoreSignals makes the plugin survive a closed terminal and a closed log pipe, which can end its CLI.
func ignoreSignals() { signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE) }

// newLog returns a logger that writes to the log of the CLI in the format of go-plugin. It also works after the plugin
// protocol has ended.
func newLog() hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Name: "provider", Output: os.Stderr, JSONFormat: true})
}
