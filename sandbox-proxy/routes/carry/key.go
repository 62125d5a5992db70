package carry

import (
	"encoding/base64"
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

// redactorOf takes a header's value out of answers: the key in it, which stands
// behind the name of a scheme, and of Basic credentials the password too.
func redactorOf(value string) *redact.Redactor {
	key := value
	if scheme, rest, schemed := strings.Cut(value, " "); schemed {
		key = strings.TrimSpace(rest)
		if strings.EqualFold(scheme, "basic") {
			if plain, err := base64.StdEncoding.DecodeString(key); err == nil {
				if _, password, both := strings.Cut(string(plain), ":"); both {
					key = password
				}
			}
		}
	}
	if len(key) < leastKey {
		return redact.New("", "").Fitted()
	}
	sent := value[strings.IndexByte(value, ' ')+1:]
	return redact.New(key, instead(key)).With(sent, instead(sent)).Fitted()
}

func instead(of string) string {
	return strings.Repeat(insteadOfKey, len(of)/len(insteadOfKey)+1)[:len(of)]
}
