package rental

import "testing"

// The price of a start is compared with the cap without the lower price of the disk before and after.
func TestInstance_PriceWithoutDisk(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ stopped, before, want int64 }{
		{500, 50, 1000}, {50, 500, 1000}, {50, 50, 1000}, {0, 50, 1050}, {-50, 50, 1050},
	} {
		inst := Instance{Price: InstancePrice{RunningKopH: 1050, StoppedKopH: test.stopped}}
		if got := inst.PriceWithoutDisk(test.before); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}
