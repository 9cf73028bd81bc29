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

var errNotReplaced = errors.New("the previous login was kept")

// checkReplace returns nil if the new key may replace the logins of the file at the same address: they belong to the
// same account, or are no longer valid, or the user agrees.
func (l *login) checkReplace(ctx context.Context, newKey string) error {
	if l.replace {
		return nil
	}
	file, err := credentials.Load(l.file)
	if err != nil {
		return cancelledOr(ctx, err)
	}
	for baseURL, old := range file.Credentials {
		if !credentials.Same(baseURL, l.baseURL) || old.APIKey == "" || old.APIKey == newKey {
			continue
		}
		if err := l.confirmReplace(ctx, old.APIKey, newKey); err != nil {
			return err
		}
	}
	return nil
}

// confirmReplace returns nil if both keys belong to the same account, if the old key is not valid, or if the user
// agrees to replace it.
func (l *login) confirmReplace(ctx context.Context, oldKey, newKey string) error {
	oldOwner, err := l.owner(ctx, oldKey)
	if rental.IsUnauthorized(err) {
		return nil // the old key is no longer valid
	}
	newOwner, newErr := l.owner(ctx, newKey)
	switch {
	case ctx.Err() != nil:
		return errCancelled
	case err == nil && newErr == nil && oldOwner.ID == newOwner.ID:
		return nil
	}
	from, to := accountName(oldOwner, err), accountName(newOwner, newErr)
	if l.input == nil {
		return fmt.Errorf("the credentials file has a login of account %q for this service, and the new one is of "+
			"account %q: to replace it, run login with --replace", from, to)
	}
	l.screen.print("The credentials file has a login of account %q for this service. "+
		"Replace it with the login of account %q?", from, to)
	yes, err := l.screen.confirm(ctx, l.input)
	if err == nil && !yes {
		err = errNotReplaced
	}
	return err
}

// owner returns the account that a key belongs to.
func (s target) owner(ctx context.Context, apiKey string) (rental.User, error) {
	client, err := s.connect(apiKey)
	if err != nil {
		return rental.User{}, err
	}
	defer client.CloseIdleConnections()
	return client.GetMe(ctx)
}

// accountName returns the email address of an account, or its id without one. If err is not nil, the account could not
// be read and its name is "unknown".
func accountName(user rental.User, err error) string {
	switch {
	case err != nil:
		return "unknown"
	case user.Email != nil && *user.Email != "":
		return rental.Printable(*user.Email, maxTextLength)
	}
	return rental.Printable(user.ID, maxTextLength)
}

// confirm reads a line of input and reports whether it is "y" or "yes". If ctx ends first, it returns errCancelled.
func (s *screen) confirm(ctx context.Context, input io.Reader) (yes bool, err error) {
	fmt.Fprint(s.stdout, "[y/N] ")
	answer := make(chan string, 1)
	go func() { // a read from a terminal cannot be cancelled: the goroutine may run until the process ends
		line, _ := bufio.NewReader(input).ReadString('\n') //nolint:errcheck // an incomplete line means no
		answer <- line
	}()
	select {
	case <-ctx.Done():
		return false, errCancelled
	case line := <-answer:
		return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(line))), nil
	}
}
