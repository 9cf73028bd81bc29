package tfkit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

type object struct{ id, kind string }

// errors of create requests. errUnreadable is that of a 201 of which only the id can be read.
var (
	errRequestLost  = &rental.Error{Message: "request lost", OutcomeUnknown: true}
	errResponseLost = &rental.Error{Message: "response lost", OutcomeUnknown: true}
	errConflict     = &rental.Error{Status: 409, Code: rental.CodeConflict}
	errUnreadable   = errors.New("unreadable")
	errDown         = errors.New("down")
)

// inFlight is how long a request may be in flight.
const inFlight = 30 * time.Second

// fakeService creates objects. Its errors are those of the first create requests.
type fakeService struct {
	errors  []error
	lag     time.Duration // from a creation until a list contains the object
	listErr error         // of all lists after the first

	objects []object
	visible map[string]time.Time // from which a list contains an object, by id
	creates int
	lists   int
}

func (s *fakeService) create(kind string) (object, error) {
	s.creates++
	var err error
	if len(s.errors) >= s.creates {
		err = s.errors[s.creates-1]
	}
	if errors.Is(err, errRequestLost) || errors.Is(err, errConflict) {
		return object{}, err
	}
	created := object{fmt.Sprint("id", s.creates), kind}
	s.objects = append(s.objects, created)
	s.visible[created.id] = time.Now().Add(s.lag)
	if errors.Is(err, errResponseLost) {
		return object{}, err
	}
	return created, err
}

func (s *fakeService) list(ctx context.Context) (listed []object, err error) {
	if s.lists++; s.lists > 1 && s.listErr != nil {
		return nil, s.listErr
	}
	for _, one := range s.objects {
		if !time.Now().Before(s.visible[one.id]) {
			listed = append(listed, one)
		}
	}
	return listed, ctx.Err()
}

// once returns the creation of a round object.
func (s *fakeService) once() CreateOnce[object] {
	s.visible = map[string]time.Time{}
	return CreateOnce[object]{
		Creations: new(Creations), InFlight: inFlight,
		List:    s.list,
		Create:  func(context.Context) (object, error) { return s.create("round") },
		ID:      func(o object) string { return o.id },
		Matches: func(o object) bool { return o.kind == "round" },
	}
}

// discard deletes an object, and fails after the end of ctx.
func (s *fakeService) discard(ctx context.Context, o object) error {
	s.objects = slices.DeleteFunc(s.objects, func(one object) bool { return one == o })
	return ctx.Err()
}

func TestCreateOnce(t *testing.T) {
	theirs := object{"theirs", "round"}
	for name, test := range map[string]struct {
		service     fakeService
		during      []object // objects that others create at the first request
		discard     bool     // an object is useless without its response
		interrupted string   // "before" or "during" the first request
		slow        time.Duration
		want        string // the id
		wantErr     error
		creates     int
		left        []string // ids; only want if empty
	}{
		"success":       {creates: 1, want: "id1"},
		"response lost": {service: fakeService{errors: []error{errResponseLost}}, creates: 1, want: "id1"},
		"request lost":  {service: fakeService{errors: []error{errRequestLost}}, creates: 2, want: "id2"},
		"request lost, then response lost": {
			service: fakeService{errors: []error{errRequestLost, errResponseLost}}, creates: 2, want: "id2",
		},
		"three losses": {
			service: fakeService{errors: []error{errRequestLost, errRequestLost, errResponseLost}, lag: inFlight / 2},
			creates: 3, want: "id3",
		},
		"all requests lost": {
			service: fakeService{errors: []error{errRequestLost, errRequestLost, errRequestLost}},
			creates: 3, wantErr: errRequestLost,
		},
		"the list lags": {
			service: fakeService{errors: []error{errResponseLost}, lag: inFlight - time.Second}, creates: 1, want: "id1",
		},
		"the list fails": {
			service: fakeService{errors: []error{errResponseLost}, listErr: errDown},
			creates: 1, wantErr: errDown, left: []string{"id1"},
		},
		"an older object matches": {
			service: fakeService{errors: []error{errRequestLost}, objects: []object{theirs}},
			creates: 2, want: "id2", left: []string{"theirs", "id2"},
		},
		"a new object of another client does not match": {
			service: fakeService{errors: []error{errResponseLost}}, during: []object{{"theirs", "square"}},
			creates: 1, want: "id1", left: []string{"theirs", "id1"},
		},
		"of two new objects, another client may use one": {
			service: fakeService{errors: []error{errResponseLost}}, during: []object{theirs}, discard: true,
			creates: 1, wantErr: errResponseLost, left: []string{"theirs", "id1"},
		},
		"a conflict": {service: fakeService{errors: []error{errConflict}}, creates: 1, wantErr: errConflict},
		"a conflict with the object of the lost response": {
			service: fakeService{errors: []error{errResponseLost, errConflict}, lag: inFlight + 10*time.Second},
			creates: 2, want: "id1",
		},
		"only the id can be read": {service: fakeService{errors: []error{errUnreadable}}, creates: 1, want: "id1"},
		"only the id can be read, discard": {
			service: fakeService{errors: []error{errUnreadable}}, discard: true, creates: 2, want: "id2",
		},
		"response lost, discard": {
			service: fakeService{errors: []error{errResponseLost}}, discard: true, creates: 2, want: "id2",
		},
		"response lost, discard an object that the list contains late": {
			service: fakeService{errors: []error{errResponseLost}, lag: inFlight + time.Second}, slow: 5 * time.Second,
			discard: true, creates: 2, want: "id2",
		},
		"interrupted before the request": {interrupted: "before", wantErr: context.Canceled},
		"interrupted, success":           {interrupted: "during", creates: 1, want: "id1"},
		"interrupted, request lost": {
			service: fakeService{errors: []error{errRequestLost}}, interrupted: "during", creates: 1, wantErr: errRequestLost,
		},
		"interrupted, response lost": {
			service: fakeService{errors: []error{errResponseLost}}, interrupted: "during", creates: 1, wantErr: errResponseLost,
			left: []string{"id1"},
		},
		"interrupted, only the id can be read, discard": {
			service: fakeService{errors: []error{errUnreadable}}, interrupted: "during", discard: true,
			creates: 1, wantErr: errUnreadable,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, interrupt := context.WithCancel(t.Context())
				defer interrupt()
				s := test.service
				once := s.once()
				if test.discard {
					once.Discard = s.discard
				}
				list, create := once.List, once.Create
				once.List = func(ctx context.Context) ([]object, error) {
					if test.interrupted == "before" {
						interrupt()
					}
					return list(ctx)
				}
				once.Create = func(ctx context.Context) (object, error) {
					if s.creates == 0 {
						s.objects = append(s.objects, test.during...)
					}
					if test.interrupted == "during" {
						interrupt()
					}
					time.Sleep(test.slow)
					return create(ctx)
				}
				start := time.Now()
				got, err := once.Run(ctx)
				if got.id != test.want || !errors.Is(err, test.wantErr) || s.creates != test.creates {
					t.Errorf("got %q, %v after %d requests, want %q, %v", got.id, err, s.creates, test.want, test.wantErr)
				}
				var left []string
				for _, one := range s.objects {
					left = append(left, one.id)
				}
				want := test.left
				if want == nil && test.want != "" {
					want = []string{test.want}
				}
				if !slices.Equal(left, want) {
					t.Errorf("the objects are %v, want %v", left, want)
				}
				if took := time.Since(start); test.wantErr == errConflict && (took > 0 || s.lists > 1) {
					t.Errorf("a definitive error after %s and %d lists", took, s.lists)
				}
			})
		})
	}
}

// A creation does not return the object of an earlier creation of the process, which the first list may not contain.
// Another service can have the same ids.
func TestCreateOnce_EarlierCreations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakeService{errors: []error{nil, errRequestLost}, lag: 3 * time.Second}
		once := s.once()
		for _, want := range []string{"id1", "id3"} {
			if got, err := once.Run(t.Context()); err != nil || got.id != want {
				t.Errorf("got %+v, %v; want %s", got, err, want)
			}
		}
		another := fakeService{errors: []error{errResponseLost}}
		elsewhere := another.once()
		elsewhere.Service, elsewhere.Creations = "https://another.example", once.Creations
		if got, err := elsewhere.Run(t.Context()); err != nil || got.id != "id1" || another.creates != 1 {
			t.Errorf("the other service: got %+v, %v after %d requests", got, err, another.creates)
		}
	})
}
