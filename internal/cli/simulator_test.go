package cli

import (
	"flag"
	"net/netip"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// The command listens on a loopback address unless --listen names another one.
func TestSimulator_ListensOnLoopbackByDefault(t *testing.T) {
	var config simulator.Config
	flags := flag.NewFlagSet("simulator", flag.ContinueOnError)
	simulatorFlags(flags, &config)
	if err := flags.Parse(nil); err != nil {
		t.Fatal(err)
	}
	if listen, err := netip.ParseAddrPort(config.Listen); err != nil || !listen.Addr().IsLoopback() {
		t.Errorf("the default is %q", config.Listen)
	}
}
