// Package simulator is the whole Rental Service API v1 in memory: offers, instances, billing, keys, device login and
// every documented limit, with no GPU and no money behind it.
//
// State is a function of history and the clock. Nothing runs in the background: before a request is served, everything
// that was due since the last one happens in time order ([Simulator.Advance] does the same on demand). Two simulators
// with one seed, one clock and one history are therefore equal.
//
// Where to look:
//
//	routes.go        the table of operations: method, path, scope, handler
//	api.go           what happens to a request before and after its handler
//	handlers_*.go    one function per operation, returning (result, error)
//	input.go query.go page.go list.go encode.go errors.go language.go   what goes in and what comes out
//	world.go clock.go timeline.go                               state and time
//	state.go store.go                                           the file that outlives the process
//	gpu.go market.go drift.go offer*.go template*.go            what is for rent
//	instance*.go lifecycle.go rent.go ledger.go                 rentals and what they cost
//	account.go apikey.go auth.go sshkey.go device.go            who rents
//	ratelimit.go faults.go requestlog.go control*.go patch.go   what a test can set and see
//	console/ overview.go   the pages in the browser, and what they show
//	server.go        the listener
//
// The control API and the console live beside the API, on the same listener, never under /api/v1.
package simulator
