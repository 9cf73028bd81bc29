// Package crash tests that an interrupted apply is repaired by applying again: no server is rented twice and none is
// lost. For a fleet, this includes the changes of an existing one, and its destruction.
//
// Its tests run the provider's program with a real CLI and break an apply at each of its requests. A cell of the matrix
// is a failure, such as a killed provider before the API has processed the request, and the number of the request. By
// default the tests run one cell of some tables; -crash.every=1 runs all cells of all tables.
package crash
