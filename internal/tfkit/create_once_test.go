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

// shop is a service that makes things, and loses answers on demand.
type fakeService struct {
	visible      map[string]time.Time // when a thing was made
	lag          time.Duration        // after which a listing contains it
	late         time.Duration        // after which a request whose answer was lost is carried out
	objects      []object
	creates      int
	loseResponse map[int]bool // creations whose answer is lost after the work
	loseRequest  map[int]bool // creations whose request is lost before the work
	listErr      error        // what the second and later listings answer
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

// listed is what a listing contains by now.
func (s *fakeService) listed() []object {
	var listed []object
	for _, one := range s.objects {
		if !time.Now().Before(s.visible[one.id].Add(s.lag)) {
			listed = append(listed, one)
		}
	}
	return listed
}

// inFlight is how long a request may be under way.
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
		"at once":      {fakeService{}, "id1", nil, 1, 1},
		"answer lost":  {fakeService{loseResponse: map[int]bool{1: true}}, "id1", nil, 1, 1},
		"request lost": {fakeService{loseRequest: map[int]bool{1: true}}, "id1", nil, 2, 1},
		"request lost, then answer": {
			fakeService{loseRequest: map[int]bool{1: true}, loseResponse: map[int]bool{2: true}}, "id1", nil, 2, 1,
		},
		"an older one like it is not taken": {
			fakeService{objects: []object{old}, loseRequest: map[int]bool{1: true}}, "id2", nil, 2, 2,
		},
		"never got through": {
			fakeService{loseRequest: map[int]bool{1: true, 2: true, 3: true}}, "", errLost, 3, 0,
		},
		"listing lags": {
			fakeService{loseResponse: map[int]bool{1: true}, lag: inFlight - time.Second}, "id1", nil, 1, 1,
		},
		"carried out late": {
			fakeService{loseResponse: map[int]bool{1: true}, late: inFlight - time.Second}, "id1", nil, 1, 1,
		},
		"answer lost three times": {
			fakeService{loseRequest: map[int]bool{1: true, 2: true}, loseResponse: map[int]bool{3: true}, lag: inFlight / 2},
			"id1", nil, 3, 1,
		},
		"answer lost, and the listing as well": {
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
						"asked %d times, %d things are there; want %d and %d",
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

func TestCreateOnce_IgnoresOtherObjects(t *testing.T) {
	s := fakeService{loseResponse: map[int]bool{1: true}}
	once := s.once("round")
	create := once.Create
	once.Create = func(ctx context.Context) (object, error) {
		if s.creates == 0 { // someone else is quicker
			s.objects = append(s.objects, object{"theirs", "square"})
		}
		return create(ctx)
	}
	if got, err := once.Run(t.Context()); err != nil || got.kind != "round" {
		t.Errorf("got %+v, %v", got, err)
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
		t.Errorf("got %+v, %v, discarded %v; want the second, the first discarded", got, err, discarded)
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

// A refusal after a lost answer may be because of what the lost request made.
func TestCreateOnce_ConflictAfterLostResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refusal := &rental.Error{Status: 409, Code: rental.CodeConflict}
		s := fakeService{loseResponse: map[int]bool{1: true}, lag: inFlight + 10*time.Second}
		once := s.once("round")
		create := once.Create
		once.Create = func(ctx context.Context) (object, error) {
			if len(s.objects) > 0 {
				return object{}, refusal
			}
			return create(ctx)
		}
		if got, err := once.Run(t.Context()); err != nil || got.id != "id1" {
			t.Errorf("got %+v, %v; want what the first request made", got, err)
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
			t.Errorf("%v after %d requests, %d listings and %s", err, s.creates, s.lists, time.Since(start))
		}
	})
}

// An answer whose rest cannot be read says by its id what was made.
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

// What an earlier creation of this process made is not taken for the work of a later one, although a listing did not
// contain it at first.
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

// What a lost request made, and what no listing contained in time, is discarded when it appears before the end.
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

// What is on its way when the run is interrupted is brought to an end: looked for,
// taken or discarded, but not tried again.
func TestCreateOnce_InterruptedDuringCreate(t *testing.T) {
	for name, test := range map[string]struct {
		service fakeService
		discard bool
		wantID  string
		wantErr error
		left    int
	}{
		"answered":                 {fakeService{}, false, "id1", nil, 1},
		"request lost":             {fakeService{loseRequest: map[int]bool{1: true}}, false, "", errLost, 0},
		"answer lost":              {fakeService{loseResponse: map[int]bool{1: true}}, false, "id1", nil, 1},
		"answer lost, and no good": {fakeService{loseResponse: map[int]bool{1: true}}, true, "", errLost, 0},
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
						t.Error("the creation was cut off")
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
						"got %q, %v after %d requests, %d are left; want %q, %v after 1, %d left",
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
