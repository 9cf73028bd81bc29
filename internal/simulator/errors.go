package simulator

import (
	"fmt"
	"net/http"
	"strings"
)

// errorCode is what clients branch on.
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

// errorTable gives each documented code its status and the message used where an error has no better one.
var errorTable = []struct {
	code   errorCode
	status int
	text   text
}{
	{codeAuthorizationPending, http.StatusBadRequest, text{"Ожидается подтверждение входа в браузере", "Waiting for the login to be approved in the browser"}},
	{codeSlowDown, http.StatusBadRequest, text{"Слишком частый опрос, увеличьте интервал", "Polling too often, lengthen the interval"}},
	{codeAccessDenied, http.StatusBadRequest, text{"Вход отклонён в браузере", "The login was denied in the browser"}},
	{codeExpiredToken, http.StatusBadRequest, text{"Код входа истёк или уже использован", "The login code has expired or was already used"}},
	{codeUnauthorized, http.StatusUnauthorized, text{"Нужен действующий API-ключ", "A valid API key is required"}},
	{codeInsufficientFunds, http.StatusPaymentRequired, text{"Недостаточно средств на 2 часа работы", "Not enough money for 2 hours of runtime"}},
	{codeForbidden, http.StatusForbidden, text{"Доступ запрещён", "Access denied"}},
	{codeNotFound, http.StatusNotFound, text{"Не найдено", "Not found"}},
	{codeConflict, http.StatusConflict, text{"Текущее состояние этого не позволяет", "The current state does not allow it"}},
	{codeValidation, http.StatusUnprocessableEntity, text{"Некорректные данные запроса", "Invalid request"}},
	{codeRateLimited, http.StatusTooManyRequests, text{"Слишком много запросов", "Too many requests"}},
	{codeInternal, http.StatusInternalServerError, text{"Внутренняя ошибка", "Internal error"}},
	{codeProviderUnavailable, http.StatusServiceUnavailable, text{"Поставщик временно недоступен", "The provider is temporarily unavailable"}},
}

// apiError is an error as the API answers it.
type apiError struct {
	code    errorCode
	status  int
	text    text
	details map[string]any
	issues  []issue
	header  http.Header
}

// issue is one thing wrong with one field of the input.
type issue struct {
	field string
	text  text
}

func (e *apiError) Error() string {
	said := []string{fmt.Sprintf("%d %s: %s", e.status, e.code, e.text.en)}
	for _, i := range e.issues {
		said = append(said, i.field+" "+i.text.en)
	}
	return strings.Join(said, "; ")
}

// fail returns the error of a code with the status and the message of the table.
func fail(code errorCode) *apiError {
	for _, row := range errorTable {
		if row.code == code {
			return &apiError{code: code, status: row.status, text: row.text}
		}
	}
	panic("simulator: unknown error code " + string(code))
}

// codeFor returns the first code of a status, and whether the document has one.
func codeFor(status int) (errorCode, bool) {
	for _, row := range errorTable {
		if row.status == status {
			return row.code, true
		}
	}
	return "", false
}

func (e *apiError) saying(ru, en string) *apiError {
	e.text = text{ru, en}
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

// answeredAs keeps the code but changes the status, for the HTTP conditions that have no code of their own.
func (e *apiError) answeredAs(status int) *apiError {
	e.status = status
	return e
}

func notFound(ru, en string) *apiError { return fail(codeNotFound).saying(ru, en) }
func conflict(ru, en string) *apiError { return fail(codeConflict).saying(ru, en) }

// invalid is a validation error about one field.
func invalid(field string, t text) *apiError {
	e := fail(codeValidation)
	e.issues = []issue{{field, t}}
	return e
}
