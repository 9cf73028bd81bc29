package lifecycle

import "context"

// Find returns the instance that was rented before under a key of the seed, and rents nothing. found is false if there
// is none. The given number of unused keys in a row ends the search. The caller continues with
// ConvergeRented, or with Owners.Release.
func (m *Manager) Find(ctx context.Context, order Order, unusedKeys int) (rented Rented, found bool, err error) {
	if order.Seed.New() {
		return Rented{}, false, nil
	}
	c := m.newCreation(order)
	for unused := 0; unused < unusedKeys; c.order.Generation++ {
		rented, use, err := c.lookUp(ctx)
		switch {
		case err != nil || use == keyLive:
			return rented, err == nil, orInterrupted(ctx, err)
		case use == keyUnused:
			unused++
			continue
		}
		if rented, found, err = c.skipDestroyed(ctx); found || err != nil {
			return rented, found, orInterrupted(ctx, err)
		}
		unused = 1
	}
	return Rented{}, false, nil
}

// lookUp returns what was rented before under the current key.
func (c *creation) lookUp(ctx context.Context) (Rented, keyUse, error) {
	rented, use, err := c.request(ctx, nil)
	if use == keyUnused {
		err = nil
	}
	return rented, use, err
}

// skipDestroyed moves from a key whose instance is destroyed to the next unused one, with a number of requests that
// grows with the logarithm of their number: they are used in order. If it meets an instance that exists, it returns it.
func (c *creation) skipDestroyed(ctx context.Context) (rented Rented, found bool, err error) {
	used, unused := c.order.Generation, 0 // 0 while no unused key is known
	for step := 1; unused == 0 || unused-used > 1; step *= 2 {
		c.order.Generation = used + step
		if unused > 0 {
			c.order.Generation = (used + unused) / 2
		}
		rented, use, err := c.lookUp(ctx)
		switch {
		case err != nil || use == keyLive:
			return rented, err == nil, err
		case use == keyUnused:
			unused = c.order.Generation
		default:
			used = c.order.Generation
		}
	}
	c.order.Generation = unused
	return Rented{}, false, nil
}
