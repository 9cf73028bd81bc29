package cli

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
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

// How long the process takes to undo what it made for the length of a run.
const (
	// atEnd is for a CLI that waits: two seconds after it asked a plugin to end, it
	// kills it.
	atEnd = 1500 * time.Millisecond
	// onItsOwn is for a CLI that died. Nobody waits then, but nobody expects the
	// process to be there either.
	onItsOwn = 30 * time.Second
)

// servePlugin hands over to the plugin protocol, which handles signals itself:
// the CLI that started the plugin decides when it stops, and the end of ctx, which
// is a signal, is none of its business. When that CLI dies, nobody can save any more
// what the plugin does, and it ends by itself.
func servePlugin(ctx context.Context, debugger bool) error {
	if err := limitLog(); err != nil {
		return err
	}
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(garbage)
	}
	plugin, err := provider.NewPlugin(version)
	if err != nil {
		return err
	}
	var options []tf6server.ServeOpt
	var orphaned <-chan struct{} // never, for a debugger attaches and leaves
	if debugger {
		options = append(options, tf6server.WithManagedDebug())
	} else {
		outlive()
		orphaned = parentGone()
	}
	log := endLog()
	served := make(chan error, 1)
	go func() {
		served <- tf6server.Serve(registryHost+provider.Address, func() tfprotov6.ProviderServer { return plugin }, options...)
	}()
	patience := atEnd
	select {
	case err = <-served:
	case <-orphaned:
		patience = onItsOwn
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	for _, left := range plugin.Finish(ctx) {
		log.Warn("The provider ends and leaves something behind", "error", left)
	}
	return err
}

// outlive keeps the plugin from dying of what its CLI dies of: the end of the
// terminal, which is told to both, and a log that nobody reads any more.
func outlive() { signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE) }

// endLog writes to the CLI's log when the plugin protocol, which takes the standard
// streams for itself, has ended. The CLI shows of it what it was asked to.
func endLog() hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Name: "provider", Output: os.Stderr, JSONFormat: true})
}
