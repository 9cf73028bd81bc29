// Package conformance tests the whole API document of the Rental Service over HTTP. It uses the control API for
// preparation only.
//
// Each test starts its own simulator. To test a running service, which must have a manual clock and a still market,
// pass the values that it printed at its start:
//
//	terraform-provider-gpurent simulator --clock manual --market still
//	go test ./internal/simulator/conformance -target BASE_URL,CONTROL_URL,API_KEY
//
// The tests then run one after another, each after a POST /reset.
package conformance
