package main

import "time"

// Programs that are measured.
const (
	programProvider = "provider"
	// programControl is the provider without requests: see the package control.
	programControl = "control"
	// programEmpty is a provider with one empty resource: see the package empty.
	programEmpty = "empty"
)

// scenario is a CLI command that runs with the provider and with a control, or with a fleet and with count.
type scenario struct {
	name string
	// controlProgram is empty in a scenario that compares a fleet with count.
	controlProgram string
	command        []string
	servers        int
	// created means that the servers exist before the command. The same state then serves all runs.
	created bool
	// settings are arguments of the provider block.
	settings string
	// limited means that the request limit of the API applies and that servers boot as long as the simulator's default, on
	// a clock that is limitedTimeScale times as fast.
	limited bool
	// maxWall, maxCPU and maxMemory are the largest ratios to the control. 0 means no bound.
	maxWall, maxCPU, maxMemory float64
	// maxFloor is the largest ratio of the wall time to floor. 0 means no bound.
	maxFloor float64
}

// side is one of the two sides of a comparison.
type side struct {
	program string
	fleet   bool // the servers are a fleet
}

func (s scenario) comparesFleet() bool { return s.controlProgram == "" }

func (s scenario) sides() [2]side {
	if s.comparesFleet() {
		return [...]side{{programProvider, true}, {programProvider, false}}
	}
	return [...]side{{programProvider, false}, {s.controlProgram, false}}
}

// floor returns the time that the request limit and the boot leave to any client, 0 without a limit.
func (s scenario) floor() time.Duration {
	if !s.limited {
		return 0
	}
	windows := (s.servers - 1) / requestsPerMinute
	return (time.Duration(windows)*time.Minute + limitedBoot) / limitedTimeScale
}

const (
	// maxRefreshWall is for 1,000 servers. The start of the processes dominates a smaller refresh, and the time of the CLI
	// for 5,000 servers varies too much.
	maxRefreshWall = 1.15
	// maxCreateWall allows for the polls of the provider: the control does not wait for servers.
	maxCreateWall = 1.7
	maxMemory     = 2
	maxFleetWall  = 0.5 // of the same servers with count
	maxFloor      = 1.15

	// limitedTimeScale is the speed of the clock in scenarios with a request limit, which would take minutes otherwise.
	limitedTimeScale = 2
	// limitedBoot is the time that a server boots in these scenarios.
	limitedBoot = 8 * time.Second
	// limitedPollInterval is the default poll interval on this clock.
	limitedPollInterval = `poll_interval = "2500ms"`
	requestsPerMinute   = 120
)

var (
	schemaCommand  = []string{"providers", "schema", "-json"}
	refreshCommand = []string{"plan", "-refresh-only", "-input=false", "-no-color", "-parallelism=10"}
	applyCommand   = []string{"apply", "-auto-approve", "-input=false", "-no-color", "-parallelism=50"}
	// defaultApplyCommand has the default parallelism.
	defaultApplyCommand = []string{"apply", "-auto-approve", "-input=false", "-no-color"}
)

// scenarios lists the measurements. No rate limit applies, and servers boot immediately, so the result is the time that
// the provider adds to the work of the CLI.
var scenarios = []scenario{
	{name: "schema", controlProgram: programEmpty, command: schemaCommand, maxCPU: 1.5, maxMemory: 1.35},
	refresh("refresh/200", 200, 0),
	refresh("refresh/1000", 1000, maxRefreshWall),
	refresh("refresh/5000", 5000, 0),
	create("create/200", 200, ""),
	create("create/1000", 1000, ""),
	create("create/1000/max-burn", 1000, "spending = { max_burn_kop_h = 100000000000 }"),
	{
		name: "fleet/create/200", command: defaultApplyCommand, servers: 200, limited: true,
		maxWall: maxFleetWall, maxFloor: maxFloor,
	},
	{name: "fleet/refresh/1000", command: refreshCommand, servers: 1000, created: true, maxWall: maxFleetWall},
	{name: "fleet/refresh/5000", command: refreshCommand, servers: 5000, created: true, maxWall: maxFleetWall},
}

func refresh(name string, servers int, maxWall float64) scenario {
	return scenario{
		name: name, controlProgram: programControl, command: refreshCommand, servers: servers, created: true,
		maxWall: maxWall, maxMemory: maxMemory,
	}
}

func create(name string, servers int, settings string) scenario {
	return scenario{
		name: name, controlProgram: programControl, command: applyCommand, servers: servers, settings: settings,
		maxWall: maxCreateWall, maxMemory: maxMemory,
	}
}
