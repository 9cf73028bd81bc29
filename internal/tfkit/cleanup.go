package tfkit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Cleanup undoes temporary creations of a process before the process ends, because an interrupted or killed CLI does
// not close ephemeral resources. The zero value is ready for use.
type Cleanup struct {
	mu       sync.Mutex
	ending   bool              // Run was called: nothing more may be created
	deadline time.Time         // of Run
	creating int               // creations in progress
	tasks    map[Text]*cleanup // by the names of their objects
	busy     sync.WaitGroup    // creations in progress, and tasks that have started
}

// cleanup is a task that is not done.
type cleanup struct {
	undo   func(context.Context) error
	values context.Context // of the call that registered it. The logger needs them
	err    error           // of undo
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
	c.busy.Add(1)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.creating--
		c.busy.Done()
	}, true
}

// Register adds an object with the function that undoes its creation. The name is unique, and identifies the object in
// an error.
func (c *Cleanup) Register(ctx context.Context, name Text, undo func(context.Context) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tasks == nil {
		c.tasks = map[Text]*cleanup{}
	}
	c.tasks[name] = &cleanup{undo: undo, values: context.WithoutCancel(ctx), err: context.DeadlineExceeded}
	if c.ending && c.creating > 0 { // else Run may have ended
		c.start(name) //nolint:contextcheck // an undo outlives the call that registered it
	}
}

// Done removes an object that the caller has undone.
func (c *Cleanup) Done(name Text) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tasks, name)
}

// Run undoes all creations concurrently, including those in progress, until the deadline of ctx. It returns an error
// for each object that was not deleted.
func (c *Cleanup) Run(ctx context.Context) (left []error) {
	c.mu.Lock()
	c.ending = true
	c.deadline, _ = ctx.Deadline()
	for name := range c.tasks {
		c.start(name) //nolint:contextcheck // start uses the deadline of ctx
	}
	c.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		c.busy.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(c.tasks)) {
		left = append(left, fmt.Errorf("%s was not deleted: %w", name, c.tasks[name].err))
	}
	if c.creating > 0 {
		left = append(left, fmt.Errorf("the outcome of requests to create an object is unknown (requests: %d)", c.creating))
	}
	return left
}

// start begins to undo a task. The caller has the lock.
func (c *Cleanup) start(name Text) {
	task := c.tasks[name]
	c.busy.Go(func() {
		ctx, cancel := context.WithDeadline(task.values, c.deadline)
		defer cancel()
		err := task.undo(ctx)
		c.mu.Lock()
		defer c.mu.Unlock()
		if task.err = err; err == nil {
			delete(c.tasks, name)
		}
	})
}
