package rental

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// A write is checked after its wait for the request limit. If the check fails, nothing is sent. Reads are not checked,
// and those of the check do not wait.
func TestBeforeSend_AfterTheWaitForTheLimit(t *testing.T) {
	for name, failure := range map[string]error{"allowed": nil, "not allowed": errors.New("above the limit")} {
		synctest.Test(t, func(t *testing.T) {
			l := newLimitedAPI(limitKind{}, 0)
			client := l.client(t)
			send(t, client, 1, limitPerKey) // uses up the limit
			began, checkedAfter := time.Now(), time.Duration(0)
			reads := l.served[http.MethodGet] + l.refused
			ctx := BeforeSend(t.Context(), func(ctx context.Context) error {
				checkedAfter = time.Since(began)
				if _, err := client.GetMe(ctx); err != nil {
					t.Error(err)
				}
				if waited := time.Since(began) - checkedAfter; waited > time.Second {
					t.Errorf("%s: the read of the check waited %s", name, waited)
				}
				return failure
			})
			_, err := client.StartInstance(ctx, "x")
			notSent, _ := errors.AsType[NotSent](err)
			if sent := l.served[http.MethodPost] == 1; !errors.Is(notSent.Err, failure) || sent != (failure == nil) {
				t.Errorf("%s: %v, %d writes", name, err, l.served[http.MethodPost])
			}
			if checkedAfter < 20*time.Second || time.Since(began) > checkedAfter+time.Second {
				t.Errorf("%s: checked after %s, sent after %s", name, checkedAfter, time.Since(began))
			}
			if got := l.served[http.MethodGet] + l.refused - reads; got != 1 {
				t.Errorf("%s: %d reads", name, got)
			}
		})
	}
}

// After a lost response, the retry is not checked: the API may have performed the write.
func TestBeforeSend_NotAfterALostResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := scriptedClient(t, failed(CodeRateLimited), cut, failed(CodeInsufficientFunds))
		checks := 0
		ctx := BeforeSend(t.Context(), func(context.Context) error { checks++; return nil })
		_, _, err := client.CreateInstance(ctx, "k", InstanceCreate{})
		if !IsInsufficientFunds(err) || checks != 2 || s.attempts() != 3 {
			t.Errorf("%v, %d checks, %d requests", err, checks, s.attempts())
		}
	})
}
