package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/credentials"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

var errNotReplaced = errors.New("the login before was kept")

// mayReplace returns nil when the login of a new key may take the place of the logins that the file has at the same
// address: they are of the same account, or do not work any more, or the user agrees.
func (l *login) mayReplace(ctx context.Context, newKey string) error {
	if l.replaces {
		return nil
	}
	file, err := credentials.Load(l.file)
	if err != nil {
		return unlessCancelled(ctx, err)
	}
	for baseURL, old := range file.Credentials {
		if !credentials.Same(baseURL, l.baseURL) || old.APIKey == "" || old.APIKey == newKey {
			continue
		}
		if err := l.agree(ctx, old.APIKey, newKey); err != nil {
			return err
		}
	}
	return nil
}

// agree asks the user to replace the login of another account.
func (l *login) agree(ctx context.Context, oldKey, newKey string) error {
	before, err := l.owner(ctx, oldKey)
	if rental.IsUnauthorized(err) {
		return nil // nothing is lost
	}
	now, nowErr := l.owner(ctx, newKey)
	switch {
	case ctx.Err() != nil:
		return errCancelled
	case err == nil && nowErr == nil && before.ID == now.ID:
		return nil
	}
	from, to := accountName(before, err), accountName(now, nowErr)
	if l.answers == nil {
		return fmt.Errorf("the credentials file has a login of account %q for this service, and the new one is of account %q: to replace it, run login with --replace", from, to)
	}
	l.screen.say("The credentials file has a login of account %q for this service. Replace it with the login of account %q?", from, to)
	yes, err := l.screen.confirm(ctx, l.answers)
	if err == nil && !yes {
		err = errNotReplaced
	}
	return err
}

// owner returns the account that a key belongs to.
func (s site) owner(ctx context.Context, apiKey string) (rental.User, error) {
	client, err := s.connect(apiKey, 2)
	if err != nil {
		return rental.User{}, err
	}
	defer client.CloseIdleConnections()
	return client.GetMe(ctx)
}

// accountName is the e-mail of an account, or its id; err is why the account could not be read.
func accountName(user rental.User, err error) string {
	switch {
	case err != nil:
		return "unknown"
	case user.Email != nil && *user.Email != "":
		return rental.Printable(*user.Email, maxShown)
	}
	return rental.Printable(user.ID, maxShown)
}

// confirm waits for an answer to a question; anything but yes is no. When ctx ends, so does the wait.
func (s *screen) confirm(ctx context.Context, answers io.Reader) (yes bool, err error) {
	fmt.Fprint(s.out, "[y/N] ")
	answered := make(chan string, 1)
	go func() { // a read of a terminal cannot be interrupted: it lasts until the process ends
		line, _ := bufio.NewReader(answers).ReadString('\n') //nolint:errcheck // no answer is no
		answered <- line
	}()
	select {
	case <-ctx.Done():
		return false, errCancelled
	case line := <-answered:
		return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(line))), nil
	}
}
