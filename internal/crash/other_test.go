//go:build !linux

package crash

import "testing"

func TestAccCrashMatrix(t *testing.T) {
	t.Skip("the tests find the processes to kill only on Linux")
}
