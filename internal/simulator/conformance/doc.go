// Package conformance is a suite of tests that goes through the document of the Rental Service API v1 from top to bottom,
// as a stranger would who has nothing else. It speaks plain HTTP, and sets the stage through the control API alone.
//
// Each test gets a simulator of its own. To try a service that runs already, which must have a manual clock and a still
// market, name what it printed when it started:
//
//	terraform-provider-gpurent simulator --clock manual --market still
//	go test ./internal/simulator/conformance -target BASE_URL,CONTROL_URL,API_KEY
//
// Then the tests run one after another, with a POST /reset before each.
package conformance
