package main

// Programs that are measured.
const (
	programProvider = "provider"
	// programControl is the provider without requests: see the package control.
	programControl = "control"
	// programEmpty is a provider with one empty resource: see the package empty.
	programEmpty = "empty"
)

// scenario is a CLI command that runs with the provider and with a control.
type scenario struct {
	name           string
	controlProgram string
	command        []string
	servers        int
	// created means that the servers exist before the command. The same state then serves all runs.
	created bool
	// settings are arguments of the provider block.
	settings string
	// maxWall, maxCPU and maxMemory are the largest ratios to the control. 0 means no bound.
	maxWall, maxCPU, maxMemory float64
}

const (
	// maxRefreshWall is for 1,000 servers. The start of the processes dominates a smaller refresh, and the time of the CLI
	// for 5,000 servers varies too much.
	maxRefreshWall = 1.15
	// maxCreateWall allows for the polls of the provider: the control does not wait for servers.
	maxCreateWall = 1.7
	maxMemory     = 2
)

var (
	schemaCommand  = []string{"providers", "schema", "-json"}
	refreshCommand = []string{"plan", "-refresh-only", "-input=false", "-no-color", "-parallelism=10"}
	applyCommand   = []string{"apply", "-auto-approve", "-input=false", "-no-color", "-parallelism=50"}
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
