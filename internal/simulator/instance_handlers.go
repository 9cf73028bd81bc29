package simulator

import (
	"net/http"
	"slices"
	"unicode/utf8"
)

const defaultTail, maxTail = 200, 1000

func (c *call) listInstances() (any, error) {
	q := parseQuery(c.r.URL)
	all := q.enum("status", "active", "all") == "all"
	instances := c.active
	if all {
		instances = c.Instances
	}
	return listPage(c, "instances", q, instances, true, keepAll, c.viewInstance)
}

// createInstance returns the existing instance if the idempotency key was used before.
func (c *call) createInstance() (any, error) {
	idempotencyKey := c.r.Header.Get("Idempotency-Key")
	if n := utf8.RuneCountInString(idempotencyKey); n < 1 || n > maxIdempotencyKey {
		return nil, invalid("Idempotency-Key", textLength.with(1, maxIdempotencyKey))
	}
	if i := c.index.replays[idempotencyKey]; i != nil {
		c.header.Set("Idempotent-Replayed", "true")
		return c.viewInstance(i), nil
	}
	o, err := readRentRequest(c.fields)
	if err != nil {
		return nil, err
	}
	o.idempotencyKey, o.callers = idempotencyKey, c.callers()
	i, err := c.rent(o)
	if err != nil {
		return nil, err
	}
	c.status = http.StatusCreated
	return c.viewInstance(i), nil
}

var textNoInstance = text{"Сервер не найден", "Instance not found"}

func (c *call) getInstance() (any, error) {
	i, err := c.instance()
	if err != nil {
		return nil, err
	}
	return c.viewInstance(i), nil
}

// instance returns the instance of the path. Destroyed instances are found, too.
func (c *call) instance() (*instance, error) {
	i := c.findInstance(c.params["id"])
	if i == nil {
		return nil, notFound(textNoInstance)
	}
	return i, nil
}

func (c *call) updateInstance() (any, error) {
	i, err := c.instance()
	if err != nil {
		return nil, err
	}
	f := c.fields
	f.require("name")
	var name *string
	if !f.isNull("name") {
		name = f.str("name", 0, 60)
	}
	if err := f.finish(); err != nil {
		return nil, err
	}
	i.Name = name
	c.instanceChanged(i)
	return c.viewInstance(i), nil
}

// applyAction applies an action to the instance of the path and returns the new state.
func (c *call) applyAction(do func(*instance) error) (any, error) {
	i, err := c.instance()
	if err != nil {
		return nil, err
	}
	if err := do(i); err != nil {
		return nil, err
	}
	return c.viewInstance(i), nil
}

func (c *call) startInstance() (any, error) { return c.applyAction(c.start) }

func (c *call) stopInstance() (any, error) {
	return c.applyAction(func(i *instance) error { return c.stop(i, stoppedByUser) })
}

func (c *call) deleteInstance() (any, error) { return c.applyAction(c.destroy) }

type logsView struct {
	Lines []string `json:"lines"`
}

func (c *call) getInstanceLogs() (any, error) {
	q := parseQuery(c.r.URL)
	tail := int64(defaultTail)
	if n := q.integer("tail", 1, maxTail); n != nil {
		tail = *n
	}
	if err := q.err(); err != nil {
		return nil, err
	}
	i, err := c.instance()
	if err != nil {
		return nil, err
	}
	return logsView{slices.Clone(i.Log[max(len(i.Log)-int(tail), 0):])}, nil
}
