package cli

import (
	"flag"
	"net/netip"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// The command listens on a loopback address unless --listen names another one.
func TestSimulatorListensOnLoopbackByDefault(t *testing.T) {
	var config simulator.Config
	flags := flag.NewFlagSet("simulator", flag.ContinueOnError)
	simulatorFlags(flags, &config)
	if err := flags.Parse(nil); err != nil {
		t.Fatal(err)
	}
	if at, err := netip.ParseAddrPort(config.Listen); err != nil || !at.Addr().IsLoopback() {
		t.Errorf("it listens on %q by default", config.Listen)
	}
}
