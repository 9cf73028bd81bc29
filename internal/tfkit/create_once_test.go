package tfkit

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

type object struct {
	id, kind string
}

// fakeService creates objects, and loses requests and responses on demand.
type fakeService struct {
	visible      map[string]time.Time // creation times by object id
	lag          time.Duration        // from a creation until a list contains the object
	late         time.Duration        // until a request whose response was lost creates its object
	objects      []object
	creates      int
	loseResponse map[int]bool // numbers of the creations whose response is lost
	loseRequest  map[int]bool // numbers of the creations whose request is lost
	listErr      error        // the error of all lists after the first
	lists        int
}

var errLost = &rental.Error{Message: "lost", OutcomeUnknown: true}

func (s *fakeService) create(kind string) (object, error) {
	s.creates++
	if s.loseRequest[s.creates] {
		return object{}, errLost
	}
	created := object{fmt.Sprint("id", len(s.objects)+1), kind}
	s.objects = append(s.objects, created)
	if s.visible == nil {
		s.visible = map[string]time.Time{}
	}
	s.visible[created.id] = time.Now()
	if s.loseResponse[s.creates] {
		s.visible[created.id] = time.Now().Add(s.late)
		return object{}, errLost
	}
	return created, nil
}

// listed returns the objects that a list currently contains.
func (s *fakeService) listed() []object {
	var listed []object
	for _, one := range s.objects {
		if !time.Now().Before(s.visible[one.id].Add(s.lag)) {
			listed = append(listed, one)
		}
	}
	return listed
}

// inFlight is how long a request may be in flight.
const inFlight = 30 * time.Second

func (s *fakeService) once(kind string) CreateOnce[object] {
	return CreateOnce[object]{
		Creations: new(Creations), InFlight: inFlight,
		List: func(context.Context) ([]object, error) {
			if s.lists++; s.lists > 1 && s.listErr != nil {
				return nil, s.listErr
			}
			return s.listed(), nil
		},
		Create:  func(context.Context) (object, error) { return s.create(kind) },
		ID:      func(t object) string { return t.id },
		Matches: func(t object) bool { return t.kind == kind },
	}
}

func TestCreateOnce(t *testing.T) {
	old := object{"old", "round"}
	for name, test := range map[string]struct {
		service            fakeService
		wantID             string
		wantErr            error
		creates, wantCount int
	}{
		"immediate success": {fakeService{}, "id1", nil, 1, 1},
		"response lost":     {fakeService{loseResponse: map[int]bool{1: true}}, "id1", nil, 1, 1},
		"request lost":      {fakeService{loseRequest: map[int]bool{1: true}}, "id1", nil, 2, 1},
		"request lost, then response lost": {
			fakeService{loseRequest: map[int]bool{1: true}, loseResponse: map[int]bool{2: true}}, "id1", nil, 2, 1,
		},
		"an older object that matches is ignored": {
			fakeService{objects: []object{old}, loseRequest: map[int]bool{1: true}}, "id2", nil, 2, 2,
		},
		"all requests lost": {
			fakeService{loseRequest: map[int]bool{1: true, 2: true, 3: true}}, "", errLost, 3, 0,
		},
		"list lags": {
			fakeService{loseResponse: map[int]bool{1: true}, lag: inFlight - time.Second}, "id1", nil, 1, 1,
		},
		"object created late": {
			fakeService{loseResponse: map[int]bool{1: true}, late: inFlight - time.Second}, "id1", nil, 1, 1,
		},
		"three losses": {
			fakeService{loseRequest: map[int]bool{1: true, 2: true}, loseResponse: map[int]bool{3: true}, lag: inFlight / 2},
			"id1", nil, 3, 1,
		},
		"response lost, then the list fails": {
			fakeService{loseResponse: map[int]bool{1: true}, listErr: errors.New("down")}, "", errLost, 1, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := test.service
				got, err := s.once("round").Run(t.Context())
				if got.id != test.wantID || !errors.Is(err, test.wantErr) {
					t.Errorf("got %q, %v; want %q, %v", got.id, err, test.wantID, test.wantErr)
				}
				if s.creates != test.creates || len(s.objects) != test.wantCount {
					t.Errorf(
						"%d creations, %d objects; want %d and %d",
						s.creates,
						len(s.objects),
						test.creates,
						test.wantCount,
					)
				}
			})
		})
	}
}

// Of two new objects that match, another run may use one: both stay.
func TestCreateOnce_IgnoresOtherObjects(t *testing.T) {
	for theirs, fails := range map[string]bool{"square": false, "round": true} {
		s := fakeService{loseResponse: map[int]bool{1: true}}
		once := s.once("round")
		create := once.Create
		once.Create = func(ctx context.Context) (object, error) {
			if s.creates == 0 { // another client creates an object first
				s.objects = append(s.objects, object{"theirs", theirs})
			}
			return create(ctx)
		}
		if got, err := once.Run(t.Context()); (err != nil) != fails || !fails && got.kind != "round" {
			t.Errorf("got %+v, %v", got, err)
		}
	}
}

func TestCreateOnce_DiscardsAfterLostResponse(t *testing.T) {
	s := fakeService{loseResponse: map[int]bool{1: true}}
	once := s.once("round")
	var discarded []string
	once.Discard = func(_ context.Context, t object) error {
		discarded = append(discarded, t.id)
		return nil
	}
	got, err := once.Run(t.Context())
	if err != nil || got.id != "id2" || len(discarded) != 1 || discarded[0] != "id1" {
		t.Errorf("got %+v, %v, discarded %v; want the second object, with the first discarded", got, err, discarded)
	}
}

func TestCreateOnce_InterruptedBeforeCreate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := fakeService{}
	once := s.once("round")
	list := once.List
	once.List = func(ctx context.Context) ([]object, error) {
		defer cancel()
		return list(ctx)
	}
	if _, err := once.Run(ctx); !errors.Is(err, context.Canceled) || s.creates != 0 {
		t.Errorf("%v after %d requests", err, s.creates)
	}
}

// A conflict after a lost response may be caused by the object that the earlier request created.
func TestCreateOnce_ConflictAfterLostResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conflict := &rental.Error{Status: 409, Code: rental.CodeConflict}
		s := fakeService{loseResponse: map[int]bool{1: true}, lag: inFlight + 10*time.Second}
		once := s.once("round")
		create := once.Create
		once.Create = func(ctx context.Context) (object, error) {
			if len(s.objects) > 0 {
				return object{}, conflict
			}
			return create(ctx)
		}
		if got, err := once.Run(t.Context()); err != nil || got.id != "id1" {
			t.Errorf("got %+v, %v; want the object of the first request", got, err)
		}
	})
}

func TestCreateOnce_Conflict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakeService{}
		once := s.once("round")
		once.Create = func(context.Context) (object, error) {
			s.creates++
			return object{}, &rental.Error{Status: 409, Code: rental.CodeConflict}
		}
		start := time.Now()
		_, err := once.Run(t.Context())
		if !rental.IsConflict(err) || s.creates != 1 || s.lists != 1 || time.Since(start) > 0 {
			t.Errorf("%v after %d requests, %d lists and %s", err, s.creates, s.lists, time.Since(start))
		}
	})
}

// If only the id of a response can be read, the id identifies the created object.
func TestCreateOnce_UnreadableResponse(t *testing.T) {
	for _, discard := range []bool{false, true} {
		s := fakeService{}
		once := s.once("round")
		create := once.Create
		once.Create = func(ctx context.Context) (object, error) {
			created, err := create(ctx)
			if s.creates == 1 {
				err = errors.Join(err, errors.New("unreadable"))
			}
			return created, err
		}
		want, discarded := "id1", 0
		if discard {
			want = "id2"
			once.Discard = func(_ context.Context, one object) error {
				discarded++
				return nil
			}
		}
		if got, err := once.Run(t.Context()); err != nil || got.id != want || (discarded == 1) != discard {
			t.Errorf("got %+v, %v, %d discarded; want %s", got, err, discarded, want)
		}
	}
}

// A creation does not return the object of an earlier creation in the same process, even if the first list did not
// contain that object.
func TestCreateOnce_IgnoresEarlierCreations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakeService{loseRequest: map[int]bool{2: true}, lag: 3 * time.Second}
		once := s.once("round")
		for _, want := range []string{"id1", "id2"} {
			if got, err := once.Run(t.Context()); err != nil || got.id != want {
				t.Errorf("got %+v, %v; want %s", got, err, want)
			}
		}
	})
}

// An object whose response was lost, and which lists contain only after InFlight, is discarded if it appears before Run
// ends.
func TestCreateOnce_DiscardsLateObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakeService{loseResponse: map[int]bool{1: true}, lag: inFlight + time.Second}
		once := s.once("round")
		create := once.Create
		once.Create = func(ctx context.Context) (object, error) {
			time.Sleep(5 * time.Second)
			return create(ctx)
		}
		var discarded []string
		once.Discard = func(_ context.Context, one object) error {
			discarded = append(discarded, one.id)
			return nil
		}
		if got, err := once.Run(t.Context()); err != nil || got.id != "id2" || len(discarded) != 1 || discarded[0] != "id1" {
			t.Errorf("got %+v, %v, discarded %v", got, err, discarded)
		}
	})
}

// After an interruption, Run still determines the outcome of the request in flight: it returns or discards the object,
// but does not send the request again.
func TestCreateOnce_InterruptedDuringCreate(t *testing.T) {
	for name, test := range map[string]struct {
		service fakeService
		discard bool
		wantID  string
		wantErr error
		left    int
	}{
		"response received":      {fakeService{}, false, "id1", nil, 1},
		"request lost":           {fakeService{loseRequest: map[int]bool{1: true}}, false, "", errLost, 0},
		"response lost":          {fakeService{loseResponse: map[int]bool{1: true}}, false, "id1", nil, 1},
		"response lost, discard": {fakeService{loseResponse: map[int]bool{1: true}}, true, "", errLost, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				s := test.service
				once := s.once("round")
				create := once.Create
				once.Create = func(ctx context.Context) (object, error) {
					cancel()
					if ctx.Err() != nil {
						t.Error("the context of the creation was canceled")
					}
					return create(ctx)
				}
				if test.discard {
					once.Discard = func(ctx context.Context, _ object) error {
						s.objects = nil
						return ctx.Err()
					}
				}
				got, err := once.Run(ctx)
				if got.id != test.wantID || !errors.Is(err, test.wantErr) || s.creates != 1 || len(s.objects) != test.left {
					t.Errorf(
						"got %q, %v after %d requests, %d objects exist; want %q, %v after 1, %d objects",
						got.id,
						err,
						s.creates,
						len(s.objects),
						test.wantID,
						test.wantErr,
						test.left,
					)
				}
			})
		})
	}
}
