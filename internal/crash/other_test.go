//go:build !linux

package crash

import "testing"

func TestAccCrashMatrix(t *testing.T) {
	t.Skip("only on Linux do the tests know how to find the processes that they kill")
}
