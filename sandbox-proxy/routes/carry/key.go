package carry

import (
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes/redact"
)

const (
	// leastKey is the length of what is looked for in answers: what is shorter
	// is no key, and would be found in words that are none.
	leastKey = 8
	// insteadOfKey stands for the key where an answer says it, as long as it.
	insteadOfKey = "key-of-this-sandbox-stays-outside-"
)

// redactorOf takes a header's value out of answers, whole and the key in it.
func redactorOf(value string) *redact.Redactor {
	part := redact.PartOf(value)
	if len(part.Secret) < leastKey {
		return redact.New("", "").Fitted()
	}
	return redact.New(value, part.With(instead(part.Secret))).Fitted()
}

func instead(of string) string {
	return strings.Repeat(insteadOfKey, len(of)/len(insteadOfKey)+1)[:len(of)]
}
