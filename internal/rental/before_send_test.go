package rental

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// A write is checked after its wait for the request limit. If the check fails, nothing is sent. Reads are not checked,
// and those of the check do not wait.
func TestBeforeSend_AfterTheWaitForTheLimit(t *testing.T) {
	for name, failure := range map[string]error{"allowed": nil, "not allowed": errors.New("above the limit")} {
		t.Run(name, func(t *testing.T) {
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
						t.Errorf("the read of the check waited %s", waited)
					}
					return failure
				})
				_, err := client.StartInstance(ctx, "x")
				notSent, _ := errors.AsType[NotSent](err)
				if sent := l.served[http.MethodPost] == 1; !errors.Is(notSent.Err, failure) || sent != (failure == nil) {
					t.Errorf("%v, %d writes", err, l.served[http.MethodPost])
				}
				if checkedAfter < 20*time.Second || time.Since(began) > checkedAfter+time.Second {
					t.Errorf("checked after %s, sent after %s", checkedAfter, time.Since(began))
				}
				if got := l.served[http.MethodGet] + l.refused - reads; got != 1 {
					t.Errorf("%d reads", got)
				}
			})
		})
	}
}

// After a lost response, the retry is not checked: the API may have performed the write.
func TestBeforeSend_NotAfterALostResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, transport := scriptedClient(t,
			reply{status: 429, body: errorJSON(CodeRateLimited)}, reply{err: io.ErrUnexpectedEOF},
			reply{status: 402, body: errorJSON(CodeInsufficientFunds)})
		checks := 0
		ctx := BeforeSend(t.Context(), func(context.Context) error { checks++; return nil })
		_, _, err := client.CreateInstance(ctx, "k", InstanceCreate{})
		if !IsInsufficientFunds(err) || checks != 2 || transport.attempts() != 3 {
			t.Errorf("%v, %d checks, %d requests", err, checks, transport.attempts())
		}
	})
}
