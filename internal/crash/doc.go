// Package crash holds the provider to its promise: kill anything at any moment,
// apply again, and nothing is rented twice and nothing is lost.
//
// Its tests run the real binary under a real CLI, and break a whole apply at
// every single request that it makes. Each such point is a cell of a matrix:
// what happens, the number of the request, and whether it happens before or
// after the service has done the work. go test samples the cells;
// -crash.every=1 takes them all.
package crash
