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

type thing struct {
	id, shape string
}

// shop is a service that makes things, and loses answers on demand.
type shop struct {
	began   map[string]time.Time // when a thing was made
	lag     time.Duration        // after which a listing contains it
	late    time.Duration        // after which a request whose answer was lost is carried out
	things  []thing
	asked   int
	loseAt  map[int]bool // creations whose answer is lost after the work
	failAt  map[int]bool // creations whose request is lost before the work
	listErr error        // what the second and later listings answer
	lists   int
}

var errLost = &rental.Error{Message: "lost", OutcomeUnknown: true}

func (s *shop) create(shape string) (thing, error) {
	s.asked++
	if s.failAt[s.asked] {
		return thing{}, errLost
	}
	made := thing{fmt.Sprint("id", len(s.things)+1), shape}
	s.things = append(s.things, made)
	if s.began == nil {
		s.began = map[string]time.Time{}
	}
	s.began[made.id] = time.Now()
	if s.loseAt[s.asked] {
		s.began[made.id] = time.Now().Add(s.late)
		return thing{}, errLost
	}
	return made, nil
}

// listed is what a listing contains by now.
func (s *shop) listed() []thing {
	var listed []thing
	for _, one := range s.things {
		if !time.Now().Before(s.began[one.id].Add(s.lag)) {
			listed = append(listed, one)
		}
	}
	return listed
}

// inFlight is how long a request may be under way.
const inFlight = 30 * time.Second

func (s *shop) once(shape string) CreateOnce[thing] {
	return CreateOnce[thing]{
		Creations: new(Creations), InFlight: inFlight,
		List: func(context.Context) ([]thing, error) {
			if s.lists++; s.lists > 1 && s.listErr != nil {
				return nil, s.listErr
			}
			return s.listed(), nil
		},
		Create:  func(context.Context) (thing, error) { return s.create(shape) },
		ID:      func(t thing) string { return t.id },
		Matches: func(t thing) bool { return t.shape == shape },
	}
}

func TestCreateOnce(t *testing.T) {
	old := thing{"old", "round"}
	for name, test := range map[string]struct {
		shop             shop
		wantID           string
		wantErr          error
		asked, wantCount int
	}{
		"at once":                              {shop{}, "id1", nil, 1, 1},
		"answer lost":                          {shop{loseAt: map[int]bool{1: true}}, "id1", nil, 1, 1},
		"request lost":                         {shop{failAt: map[int]bool{1: true}}, "id1", nil, 2, 1},
		"request lost, then answer":            {shop{failAt: map[int]bool{1: true}, loseAt: map[int]bool{2: true}}, "id1", nil, 2, 1},
		"an older one like it is not taken":    {shop{things: []thing{old}, failAt: map[int]bool{1: true}}, "id2", nil, 2, 2},
		"never got through":                    {shop{failAt: map[int]bool{1: true, 2: true, 3: true}}, "", errLost, 3, 0},
		"listing lags":                         {shop{loseAt: map[int]bool{1: true}, lag: inFlight - time.Second}, "id1", nil, 1, 1},
		"carried out late":                     {shop{loseAt: map[int]bool{1: true}, late: inFlight - time.Second}, "id1", nil, 1, 1},
		"answer lost three times":              {shop{failAt: map[int]bool{1: true, 2: true}, loseAt: map[int]bool{3: true}, lag: inFlight / 2}, "id1", nil, 3, 1},
		"answer lost, and the listing as well": {shop{loseAt: map[int]bool{1: true}, listErr: errors.New("down")}, "", errLost, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := test.shop
				got, err := s.once("round").Run(t.Context())
				if got.id != test.wantID || !errors.Is(err, test.wantErr) {
					t.Errorf("got %q, %v; want %q, %v", got.id, err, test.wantID, test.wantErr)
				}
				if s.asked != test.asked || len(s.things) != test.wantCount {
					t.Errorf("asked %d times, %d things are there; want %d and %d", s.asked, len(s.things), test.asked, test.wantCount)
				}
			})
		})
	}
}

func TestCreateOnce_LeavesOthersAlone(t *testing.T) {
	s := shop{loseAt: map[int]bool{1: true}}
	once := s.once("round")
	create := once.Create
	once.Create = func(ctx context.Context) (thing, error) {
		if s.asked == 0 { // someone else is quicker
			s.things = append(s.things, thing{"theirs", "square"})
		}
		return create(ctx)
	}
	if got, err := once.Run(t.Context()); err != nil || got.shape != "round" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestCreateOnce_DiscardsWhatIsOfNoUse(t *testing.T) {
	s := shop{loseAt: map[int]bool{1: true}}
	once := s.once("round")
	var discarded []string
	once.Discard = func(_ context.Context, t thing) error {
		discarded = append(discarded, t.id)
		return nil
	}
	got, err := once.Run(t.Context())
	if err != nil || got.id != "id2" || len(discarded) != 1 || discarded[0] != "id1" {
		t.Errorf("got %+v, %v, discarded %v; want the second, the first discarded", got, err, discarded)
	}
}

func TestCreateOnce_BeginsNothingWhenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := shop{}
	once := s.once("round")
	list := once.List
	once.List = func(ctx context.Context) ([]thing, error) {
		defer cancel()
		return list(ctx)
	}
	if _, err := once.Run(ctx); !errors.Is(err, context.Canceled) || s.asked != 0 {
		t.Errorf("%v after %d requests", err, s.asked)
	}
}

// A refusal after a lost answer may be because of what the lost request made.
func TestCreateOnce_RefusedAfterLostAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refusal := &rental.Error{Status: 409, Code: rental.CodeConflict}
		s := shop{loseAt: map[int]bool{1: true}, lag: inFlight + 10*time.Second}
		once := s.once("round")
		create := once.Create
		once.Create = func(ctx context.Context) (thing, error) {
			if len(s.things) > 0 {
				return thing{}, refusal
			}
			return create(ctx)
		}
		if got, err := once.Run(t.Context()); err != nil || got.id != "id1" {
			t.Errorf("got %+v, %v; want what the first request made", got, err)
		}
	})
}

func TestCreateOnce_RefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{}
		once := s.once("round")
		once.Create = func(context.Context) (thing, error) {
			s.asked++
			return thing{}, &rental.Error{Status: 409, Code: rental.CodeConflict}
		}
		start := time.Now()
		if _, err := once.Run(t.Context()); !rental.IsConflict(err) || s.asked != 1 || s.lists != 1 || time.Since(start) > 0 {
			t.Errorf("%v after %d requests, %d listings and %s", err, s.asked, s.lists, time.Since(start))
		}
	})
}

// An answer whose rest cannot be read says by its id what was made.
func TestCreateOnce_WithUnreadableRest(t *testing.T) {
	for _, discard := range []bool{false, true} {
		s := shop{}
		once := s.once("round")
		create := once.Create
		once.Create = func(ctx context.Context) (thing, error) {
			made, err := create(ctx)
			if s.asked == 1 {
				err = errors.Join(err, errors.New("unreadable"))
			}
			return made, err
		}
		want, discarded := "id1", 0
		if discard {
			want = "id2"
			once.Discard = func(_ context.Context, one thing) error {
				discarded++
				return nil
			}
		}
		if got, err := once.Run(t.Context()); err != nil || got.id != want || (discarded == 1) != discard {
			t.Errorf("got %+v, %v, %d discarded; want %s", got, err, discarded, want)
		}
	}
}

// What an earlier creation of this process made is not taken for the work of a later one, although a listing did not contain it at first.
func TestCreateOnce_KnowsEarlierCreations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{failAt: map[int]bool{2: true}, lag: 3 * time.Second}
		once := s.once("round")
		for _, want := range []string{"id1", "id2"} {
			if got, err := once.Run(t.Context()); err != nil || got.id != want {
				t.Errorf("got %+v, %v; want %s", got, err, want)
			}
		}
	})
}

// What a lost request made, and what no listing contained in time, is discarded when it appears before the end.
func TestCreateOnce_DiscardsWhatAppearsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{loseAt: map[int]bool{1: true}, lag: inFlight + time.Second}
		once := s.once("round")
		create := once.Create
		once.Create = func(ctx context.Context) (thing, error) {
			time.Sleep(5 * time.Second)
			return create(ctx)
		}
		var discarded []string
		once.Discard = func(_ context.Context, one thing) error {
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
func TestCreateOnce_EndsWhatItBeganWhenInterrupted(t *testing.T) {
	for name, test := range map[string]struct {
		shop    shop
		discard bool
		wantID  string
		wantErr error
		left    int
	}{
		"answered":                 {shop{}, false, "id1", nil, 1},
		"request lost":             {shop{failAt: map[int]bool{1: true}}, false, "", errLost, 0},
		"answer lost":              {shop{loseAt: map[int]bool{1: true}}, false, "id1", nil, 1},
		"answer lost, and no good": {shop{loseAt: map[int]bool{1: true}}, true, "", errLost, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				s := test.shop
				once := s.once("round")
				create := once.Create
				once.Create = func(ctx context.Context) (thing, error) {
					cancel()
					if ctx.Err() != nil {
						t.Error("the creation was cut off")
					}
					return create(ctx)
				}
				if test.discard {
					once.Discard = func(ctx context.Context, _ thing) error {
						s.things = nil
						return ctx.Err()
					}
				}
				got, err := once.Run(ctx)
				if got.id != test.wantID || !errors.Is(err, test.wantErr) || s.asked != 1 || len(s.things) != test.left {
					t.Errorf("got %q, %v after %d requests, %d are left; want %q, %v after 1, %d left", got.id, err, s.asked, len(s.things), test.wantID, test.wantErr, test.left)
				}
			})
		})
	}
}
