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
	ending   bool              // Run was called: nothing more may be created
	creating int               // creations in progress
	tasks    map[Text]*cleanup // by their names
	changed  chan struct{}     // has an element after a change during Run
}

// Task undoes one creation.
type Task struct {
	// Name is unique, and identifies the object in the error message.
	Name Text
	// Undo undoes the creation.
	Undo func(context.Context) error
}

// cleanup is a task that is not done.
type cleanup struct {
	Task
	values  context.Context // of the call that registered it. The logger needs them
	started bool            // by Run
	err     error           // of Undo, once it has failed
}

// change wakes Run. The caller holds the lock.
func (c *Cleanup) change() {
	select {
	case c.changed <- struct{}{}:
	default: // Run has not begun, or has not yet seen an earlier change
	}
}

// Begin records a creation before its request is sent. The caller calls end when the result is registered. ok is false
// if the process is about to end: then nothing may be created.
func (c *Cleanup) Begin() (end func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return nil, false
	}
	c.creating++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.creating--
		c.change()
	}, true
}

// Register adds a task.
func (c *Cleanup) Register(ctx context.Context, task Task) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tasks == nil {
		c.tasks = map[Text]*cleanup{}
	}
	c.tasks[task.Name] = &cleanup{Task: task, values: context.WithoutCancel(ctx)}
	c.change()
}

// Done removes a task that is undone.
func (c *Cleanup) Done(name Text) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tasks, name)
	c.change()
}

// Run undoes all creations concurrently, including those in progress, until the deadline of ctx. It returns an error
// for each object that was not deleted.
func (c *Cleanup) Run(ctx context.Context) []error {
	c.mu.Lock()
	c.ending, c.changed = true, make(chan struct{}, 1)
	c.mu.Unlock()
	for !c.undo(ctx) && ctx.Err() == nil {
		select {
		case <-c.changed:
		case <-ctx.Done():
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var left []error
	for _, name := range slices.Sorted(maps.Keys(c.tasks)) {
		err := c.tasks[name].err
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

// undo starts the tasks that are not started yet, and reports whether all have ended and none can follow.
func (c *Cleanup) undo(ctx context.Context) (ended bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ended = c.creating == 0
	deadline, _ := ctx.Deadline()
	for name, task := range c.tasks {
		ended = ended && task.err != nil
		if task.started {
			continue
		}
		task.started = true
		go func() { //nolint:contextcheck // it ends at the deadline of ctx
			ctx, cancel := context.WithDeadline(task.values, deadline)
			defer cancel()
			err := task.Undo(ctx)
			if err == nil {
				c.Done(name)
				return
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			task.err = err
			c.change()
		}()
	}
	return ended
}
