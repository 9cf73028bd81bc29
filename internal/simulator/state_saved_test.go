package simulator

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
)

// TestStateHoldsEverything puts one more thing into each list and map of the world, and looks for it after a restart: a
// noun that state.go forgets is gone with the process.
func TestStateHoldsEverything(t *testing.T) {
	const tried = "refers to other things: TestStateIsThereAfterAKill makes one"
	elsewhere := map[string]string{
		"models": "are the same in every engine", "events": "follow from the instances and offers",
		"active":    "follows from the instances",
		"offers":    "follow from the seed, and what changed in them is saved by id: " + tried,
		"templates": "only those of the account are saved: " + tried, "instances": tried, "byIdempotencyKey": tried,
		"shownPrices": "are documented as not saved",
	}
	sim, err := New(Config{Clock: ClockManual})
	if err != nil {
		t.Fatal(err)
	}
	for field := range reflect.TypeFor[engine]().Fields() {
		if !slices.Contains([]reflect.Kind{reflect.Slice, reflect.Map}, field.Type.Kind()) {
			continue
		}
		if elsewhere[field.Name] != "" {
			delete(elsewhere, field.Name)
			continue
		}
		things := reflect.ValueOf(sim.engine).Elem().FieldByIndex(field.Index)
		things = reflect.NewAt(field.Type, things.Addr().UnsafePointer()).Elem() // one that may be changed
		addOne(t, things)
		want := things.Len()
		restart(t, sim)
		if got := reflect.ValueOf(sim.engine).Elem().FieldByIndex(field.Index).Len(); got != want {
			t.Errorf("%d of world.%s are left after a restart, want %d", got, field.Name, want)
		}
	}
	for name := range elsewhere {
		t.Errorf("world has no list or map %s", name)
	}
}

// addOne adds the zero value of a thing to a list or a map; where the list has pointers, one that is not nil.
func addOne(t *testing.T, things reflect.Value) {
	t.Helper()
	item := reflect.New(things.Type().Elem()).Elem()
	if item.Kind() == reflect.Pointer {
		item.Set(reflect.New(item.Type().Elem()))
	}
	if things.Kind() == reflect.Slice {
		things.Set(reflect.Append(things, item))
		return
	}
	if things.IsNil() {
		things.Set(reflect.MakeMap(things.Type()))
	}
	things.SetMapIndex(reflect.Zero(things.Type().Key()), item)
}

// restart puts the simulator where its own state file would.
func restart(t *testing.T, sim *Simulator) {
	t.Helper()
	saved, err := sim.snapshot(sim.engine.now)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(saved)
	if err != nil {
		t.Fatal(err)
	}
	var read savedState
	if err := json.Unmarshal(raw, &read); err != nil {
		t.Fatal(err)
	}
	if err := sim.restore(&read); err != nil {
		t.Fatal(err)
	}
}
