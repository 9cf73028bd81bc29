// Package simulator implements the whole Rental Service API v1 in memory: offers, instances, billing, keys, device
// login and all documented limits.
//
// The simulation is event-driven. Nothing runs in the background: before a request is served, all events up to the
// current time run in time order, and [Simulator.Advance] runs them on demand. The state depends only on the seed, the
// requests and the clock.
//
//	routes.go                  the operations: method, path, scope, handler
//	api.go                     what happens before and after a handler
//	input.go query.go          request bodies and query parameters
//	page.go list.go encode.go  pages and responses
//	errors.go language.go      errors in two languages
//	engine.go event_queue.go   the simulated state and its scheduled events
//	clock.go                   real and manual clocks
//	state.go                   the state file
//	gpu.go market*.go offer*.go template*.go             what can be rented
//	instance*.go lifecycle.go rent.go ledger.go          instances and their costs
//	account.go apikey.go auth.go sshkey.go device.go     the account and its keys
//	                                                     (records, and a function for each operation)
//	ratelimit.go faults.go                               rate limits, faults
//	requestlog.go control*.go patch.go hooks.go          what tests can read and change
//	console/ overview.go       the web pages
//	server.go servers.go       the listener, and what answers for instances
//
// The control API and the console use the same listener as the API, but never paths under /api/v1.
package simulator
