package cli

import (
	"crypto/rand"
	"math/big"
	"slices"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes/redact"
)

// leastRandom is how many letters and digits a value has, each a random one in its
// placeholder, where that keeps anything else of it: what stands between them,
// and, where so many follow in one piece, a prefix.
const leastRandom = 16

// placeholderFor makes what stands for a value inside: as long, with a random
// letter for each letter and digit for each digit, in the same case, so that a
// client's own checks of it pass. What says only what kind of a secret it is
// stays as it is: a scheme in front ("Bearer "), the user of Basic credentials,
// and the marks that tokens begin with ("ghp_", "sk-ant-"), where enough is left
// that is random: of a password, or of words with hyphens between them, nothing is.
func placeholderFor(value string) string {
	part := redact.PartOf(value)
	if !part.Basic && !slices.Contains(schemes, strings.ToLower(part.Scheme)) {
		part = redact.Part{Secret: value} // of a password with a space in it
	}
	for {
		if p := part.With(standIn(part.Secret)); !strings.Contains(p, value) {
			return p
		}
	}
}

// schemes are words that stand before a token in a header.
var schemes = []string{"bearer ", "token ", "bot ", "apikey ", "api-key ", "key ", "oauth ", "jwt "}

// standIn makes what stands for the secret itself.
func standIn(secret string) string {
	if alphanumerics(secret) == 0 {
		b := make([]byte, len(secret))
		for i := range b {
			b[i] = pick(lowers)
		}
		return string(b)
	}
	kept := mark(secret)
	return secret[:kept] + scramble(secret[kept:])
}

const (
	lowers = "abcdefghijklmnopqrstuvwxyz"
	uppers = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
)

func classOfByte(c byte) string {
	for _, class := range []string{lowers, uppers, digits} {
		if strings.IndexByte(class, c) >= 0 {
			return class
		}
	}
	return ""
}

// mark gives how much of a value's beginning is kept: whole parts that end in a
// space, an underscore or a hyphen, each of at most 8 characters, while enough
// letters and digits follow in one piece: a token does, words do not.
func mark(value string) int {
	kept := 0
	for {
		n := strings.IndexAny(value[kept:], " _-")
		if n < 0 || n > 8 || longestRun(value[kept+n+1:]) < leastRandom {
			return kept
		}
		kept += n + 1
	}
}

func alphanumerics(s string) int {
	n := 0
	for i := range len(s) {
		if classOfByte(s[i]) != "" {
			n++
		}
	}
	return n
}

// longestRun is how many letters and digits follow one another at most.
func longestRun(s string) int {
	longest, run := 0, 0
	for i := range len(s) {
		if run++; classOfByte(s[i]) == "" {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// scramble puts a random character of its class for each. What is neither letter
// nor digit stays where there are enough of those: of a short password it would
// be too much.
func scramble(s string) string {
	b, kept := []byte(s), alphanumerics(s) >= leastRandom
	for i, c := range b {
		class := classOfByte(c)
		switch {
		case class != "":
			b[i] = pick(class)
		case !kept:
			b[i] = pick(lowers)
		}
	}
	return string(b)
}

func pick(class string) byte {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(len(class))))
	if err != nil {
		panic(err) // crypto/rand never fails (Go 1.24)
	}
	return class[n.Int64()]
}
