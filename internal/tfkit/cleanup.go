package tfkit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Cleanup undoes temporary creations of a process before the process ends, because an interrupted or killed CLI does
// not close ephemeral resources. The zero value is ready for use.
type Cleanup struct {
	mu       sync.Mutex
	running  bool             // Run was called: nothing more may be created
	creating int              // creations in progress
	tasks    map[Text]cleanup // by their names
	changed  chan struct{}    // closed by the next change
}

// Task undoes one creation.
type Task struct {
	// Name is unique, and identifies the object in the error message.
	Name Text
	// Undo undoes the creation.
	Undo func(context.Context) error
	// OnDone is called after the creation is undone.
	OnDone func()
}

// cleanup is a task with the values of the context that registered it. The logger needs them.
type cleanup struct {
	Task
	values context.Context
}

// Begin records a creation before its request is sent. The caller calls end when the result is registered. ok is false
// if the process is about to end: then nothing may be created.
func (c *Cleanup) Begin() (end func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running {
		return nil, false
	}
	c.creating++
	return func() { c.change(func() { c.creating-- }) }, true
}

// Register adds a task.
func (c *Cleanup) Register(ctx context.Context, task Task) {
	c.change(func() {
		if c.tasks == nil {
			c.tasks = map[Text]cleanup{}
		}
		c.tasks[task.Name] = cleanup{task, context.WithoutCancel(ctx)}
	})
}

// Done removes a task that is undone.
func (c *Cleanup) Done(name Text) {
	c.change(func() {
		if task, found := c.tasks[name]; found {
			delete(c.tasks, name)
			task.OnDone()
		}
	})
}

func (c *Cleanup) change(how func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	how()
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// Run undoes all creations concurrently, including those in progress, until the deadline of ctx. It returns an error
// for each object that was not deleted.
func (c *Cleanup) Run(ctx context.Context) []error {
	failures := map[Text]error{} // by task; nil while it is in progress
	for {
		idle, changed := c.undo(ctx, failures)
		if idle {
			break
		}
		select {
		case <-changed:
			continue
		case <-ctx.Done():
		}
		break
	}
	return c.remaining(failures)
}

// undo starts the tasks that are not started yet. It returns whether all have ended, and a channel that is closed by
// the next change.
func (c *Cleanup) undo(ctx context.Context, failures map[Text]error) (idle bool, changed <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = true
	if c.changed == nil {
		c.changed = make(chan struct{})
	}
	deadline, _ := ctx.Deadline()
	running := 0
	for name, task := range c.tasks {
		failure, tried := failures[name]
		if tried && failure != nil {
			continue
		}
		running++
		if tried {
			continue
		}
		failures[name] = nil
		go func() { //nolint:contextcheck // it ends at the deadline of ctx
			ctx, cancel := context.WithDeadline(task.values, deadline)
			defer cancel()
			err := task.Undo(ctx)
			c.change(func() { failures[name] = err })
			if err == nil {
				c.Done(name)
			}
		}()
	}
	return running == 0 && c.creating == 0, c.changed
}

// remaining returns an error for each object that was not deleted.
func (c *Cleanup) remaining(failures map[Text]error) []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var left []error
	for _, name := range slices.Sorted(maps.Keys(c.tasks)) {
		err := failures[name]
		if err == nil {
			err = context.DeadlineExceeded
		}
		left = append(left, fmt.Errorf("%s was not deleted: %w", name, err))
	}
	if c.creating > 0 {
		left = append(left, fmt.Errorf("the outcome of requests to create an object is unknown (requests: %d)", c.creating))
	}
	return left
}
