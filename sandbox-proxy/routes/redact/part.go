package redact

import (
	"encoding/base64"
	"strings"
)

// A Part is what of a header's value is the secret, as a host reads it: what
// follows a scheme, and of Basic credentials (RFC 7617) the longer of user and
// password, decoded.
type Part struct {
	// Scheme is what stands before, with its space: "Bearer ". Empty is none.
	Scheme string
	// Before and After stand around the secret in what Basic encodes: "user:".
	Before, After string
	// Secret is the secret itself.
	Secret string
	// Basic says that what follows the scheme is encoded.
	Basic bool
}

// PartOf takes a value apart.
func PartOf(value string) Part {
	n := strings.IndexByte(value, ' ')
	if n < 0 {
		return Part{Secret: value}
	}
	p := Part{Scheme: value[:n+1], Secret: value[n+1:]}
	if !strings.EqualFold(value[:n], "Basic") {
		return p
	}
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(p.Secret, "="))
	user, password, both := strings.Cut(string(b), ":")
	if err != nil || !both {
		return p
	}
	p.Basic, p.Before, p.Secret = true, user+":", password
	if len(user) > len(password) {
		p.Before, p.Secret, p.After = "", user, ":"+password
	}
	return p
}

// With gives the whole value with another secret.
func (p Part) With(secret string) string {
	if !p.Basic {
		return p.Scheme + secret
	}
	return p.Scheme + base64.StdEncoding.EncodeToString([]byte(p.Before+secret+p.After))
}

// leastPart is the least length of a part that is looked for by itself: less
// would be found in other text.
const leastPart = 8
