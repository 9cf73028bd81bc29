package simulator

import "testing"

func TestShownPrice_ByCaller(t *testing.T) {
	sim, err := New(Config{Clock: ClockManual, Market: MarketStill})
	if err != nil {
		t.Fatal(err)
	}
	w := sim.engine
	o := w.offers[0]
	changed := func(callers ...string) bool { return w.requireShownPrice(o, typeOnDemand, callers) != nil }

	w.recordShown(o, []string{"address 1", "key a"})
	w.setPrice(o, new(o.OnDemandKopH+1), nil)
	if changed("address 2", "key b") {
		t.Error("a price is changed for a caller that was never shown one")
	}
	w.recordShown(o, []string{"address 3"})
	if changed("address 3", "key a") {
		t.Error("an older look with the key counts more than a newer one from the address")
	}
	if !changed("address 1", "key b") {
		t.Error("a price is unchanged for a caller that was shown another one without its key")
	}
	if !changed("address 2", "key a") {
		t.Error("a price is unchanged for a key that was shown another one from another address")
	}
	if changed("address 2", "key a") {
		t.Error("the refusal has not shown the new price")
	}
}
