package simulator

import (
	"fmt"
	"net/http"
	"strings"
)

// errorCode is the stable code of an error.
type errorCode string

const (
	codeAuthorizationPending errorCode = "authorization_pending"
	codeSlowDown             errorCode = "slow_down"
	codeAccessDenied         errorCode = "access_denied"
	codeExpiredToken         errorCode = "expired_token"
	codeUnauthorized         errorCode = "unauthorized"
	codeInsufficientFunds    errorCode = "insufficient_funds"
	codeForbidden            errorCode = "forbidden"
	codeNotFound             errorCode = "not_found"
	codeConflict             errorCode = "conflict"
	codeValidation           errorCode = "validation_error"
	codeRateLimited          errorCode = "rate_limited"
	codeInternal             errorCode = "internal"
	codeProviderUnavailable  errorCode = "provider_unavailable"
)

// errorTable lists the documented codes with their status and default message.
var errorTable = []struct {
	code   errorCode
	status int
	text   text
}{
	{codeAuthorizationPending, http.StatusBadRequest,
		text{"Ожидается подтверждение входа в браузере", "Waiting for the login to be approved in the browser"}},
	{codeSlowDown, http.StatusBadRequest, text{"Слишком частый опрос, увеличьте интервал",
		"Polling too often, lengthen the interval"}},
	{codeAccessDenied, http.StatusBadRequest, text{"Вход отклонён в браузере", "The login was denied in the browser"}},
	{codeExpiredToken, http.StatusBadRequest, text{"Код входа истёк или уже использован",
		"The login code has expired or was already used"}},
	{codeUnauthorized, http.StatusUnauthorized, text{"Нужен действующий API-ключ", "A valid API key is required"}},
	{codeInsufficientFunds, http.StatusPaymentRequired,
		text{"Недостаточно средств на 2 часа работы", "Not enough money for 2 hours of runtime"}},
	{codeForbidden, http.StatusForbidden, text{"Доступ запрещён", "Access denied"}},
	{codeNotFound, http.StatusNotFound, text{"Не найдено", "Not found"}},
	{codeConflict, http.StatusConflict, text{"Текущее состояние этого не позволяет",
		"The current state does not allow it"}},
	{codeValidation, http.StatusUnprocessableEntity, text{"Некорректные данные запроса", "Invalid request"}},
	{codeRateLimited, http.StatusTooManyRequests, text{"Слишком много запросов", "Too many requests"}},
	{codeInternal, http.StatusInternalServerError, text{"Внутренняя ошибка", "Internal error"}},
	{codeProviderUnavailable, http.StatusServiceUnavailable,
		text{"Поставщик временно недоступен", "The provider is temporarily unavailable"}},
}

// apiError is an error response of the API.
type apiError struct {
	code    errorCode
	status  int
	text    text
	details map[string]any
	issues  []issue
	header  http.Header
}

// issue is a problem with one field of the input.
type issue struct {
	field string
	text  text
}

func (e *apiError) Error() string {
	parts := []string{fmt.Sprintf("%d %s: %s", e.status, e.code, e.text.en)}
	for _, i := range e.issues {
		parts = append(parts, i.field+" "+i.text.en)
	}
	return strings.Join(parts, "; ")
}

// newError returns an error with the status and the message of the table.
func newError(code errorCode) *apiError {
	for _, row := range errorTable {
		if row.code == code {
			return &apiError{code: code, status: row.status, text: row.text}
		}
	}
	panic("simulator: unknown error code " + string(code))
}

// codeOfStatus returns the first code with a status, and whether the document has one.
func codeOfStatus(status int) (errorCode, bool) {
	for _, row := range errorTable {
		if row.status == status {
			return row.code, true
		}
	}
	return "", false
}

func (e *apiError) withText(t text) *apiError {
	e.text = t
	return e
}

func (e *apiError) withDetail(name string, value any) *apiError {
	if e.details == nil {
		e.details = map[string]any{}
	}
	e.details[name] = value
	return e
}

func (e *apiError) withHeader(name, value string) *apiError {
	if e.header == nil {
		e.header = http.Header{}
	}
	e.header.Set(name, value)
	return e
}

// withStatus changes the status but not the code, for HTTP conditions without a code.
func (e *apiError) withStatus(status int) *apiError {
	e.status = status
	return e
}

func notFound(t text) *apiError { return newError(codeNotFound).withText(t) }
func conflict(t text) *apiError { return newError(codeConflict).withText(t) }

// invalid returns a validation error for one field.
func invalid(field string, t text) *apiError {
	e := newError(codeValidation)
	e.issues = []issue{{field, t}}
	return e
}
