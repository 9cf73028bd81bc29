// Package conformance tests the whole API document of the Rental Service over HTTP. It uses the control API for
// preparation only. Each test starts its own simulator, and the contract validates all traffic: fields, types, headers
// and statuses. Money and statuses over time are tested by the random histories of package simulator.
package conformance
