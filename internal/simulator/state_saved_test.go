package simulator

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
)

// TestState_HasAllListsAndMaps adds an item to each list and map of the engine and checks that it
// exists after a restart.
func TestState_HasAllListsAndMaps(t *testing.T) {
	const tried = "refers to other things: TestState_SurvivesKill makes one"
	elsewhere := map[string]string{
		"events":    "follow from the instances and offers",
		"active":    "follows from the instances",
		"offers":    "follow from the seed, and what changed in them is saved by id: " + tried,
		"templates": "only those of the account are saved: " + tried, "instances": tried, "byIdempotencyKey": tried,
		"scheduled":   "refer to offers: TestSetOffer_After makes some",
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
		things = reflect.NewAt(field.Type, things.Addr().UnsafePointer()).Elem() // a settable value
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

// addOne adds the zero value of an item, or a pointer to it.
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

// restart restores the simulator from its own snapshot.
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
