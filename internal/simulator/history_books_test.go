package simulator_test

// checkBooks holds what the service says about its money against itself, whatever has happened.
func checkBooks(r *rig) {
	r.t.Helper()
	b := r.balance()
	posted := map[string]int64{}
	var sum, accrued, burn int64
	entries := list[transaction](r, "/transactions", 200)
	for n, e := range entries {
		sum += e.Amount
		if e.InstanceID != nil {
			posted[*e.InstanceID] -= e.Amount
		}
		if n > 0 && e.At.After(entries[n-1].At) {
			r.t.Fatalf("the ledger is not newest first: %+v above %+v", entries[n-1], e)
		}
	}
	for _, i := range list[told](r, "/instances?status=all", 200) {
		open := i.Cost - posted[i.ID]
		accrued += open
		if open < 0 || i.Status == "destroyed" && open > 0 {
			r.t.Fatalf("%s has cost %d, and the ledger says %d: %+v", i.ID, i.Cost, posted[i.ID], i)
		}
		delete(posted, i.ID)
		burn += i.burn()
	}
	if sum != b.Balance || b.Available != sum-accrued || len(posted) > 0 {
		r.t.Fatalf("balance %+v; the ledger sums to %d, %d is accrued; posted for nobody: %v", b, sum, accrued, posted)
	}
	if b.Burn != burn || (b.Runway == nil) != (burn == 0) {
		r.t.Fatalf("balance %+v; the servers burn %d", b, burn)
	}
}

// burn is what an hour costs in the present status.
func (i *told) burn() int64 {
	switch i.Status {
	case "running", "stopping":
		return i.Price.Running
	case "stopped", "outbid":
		return i.Price.Stopped
	case "starting":
		if i.StartedAt != nil {
			return i.Price.Stopped
		}
	}
	return 0
}
