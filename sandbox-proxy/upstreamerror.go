package proxy

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
)

// UpstreamFailed is how the Detail of a [Record] begins whose call came to
// nothing at the upstream, or on the way to it.
const UpstreamFailed = "the upstream proxy"

// An upstreamError is the upstream's own no, in words for the program.
type upstreamError struct{ words string }

func (e *upstreamError) Error() string { return e.words }

// said says what an upstream answered that is no yes. Its 407 is not the proxy's
// own: the program's password is not what is wrong.
func (u Upstream) said(resp *http.Response) string {
	switch resp.StatusCode {
	case http.StatusProxyAuthRequired:
		return UpstreamFailed + " " + u.wants(resp.Header["Proxy-Authenticate"]) + " (407)"
	case http.StatusForbidden:
		return UpstreamFailed + " refused it (403)"
	}
	return fmt.Sprintf("%s answered %d", UpstreamFailed, resp.StatusCode)
}

// otherSchemes are the ways of signing in that a proxy may want and that are not
// spoken here (the registry of HTTP authentication schemes, and Microsoft's).
var otherSchemes = []string{"Digest", "Negotiate", "NTLM", "Kerberos", "Bearer"}

// wants says what is missing where challenges came with a 407 (RFC 9110 section
// 11.7.1).
func (u Upstream) wants(challenges []string) string {
	offered := map[string]bool{}
	for _, line := range challenges {
		for part := range strings.SplitSeq(line, ",") {
			scheme, _, _ := strings.Cut(strings.TrimSpace(part), " ")
			offered[strings.ToLower(scheme)] = true
		}
	}
	var others []string
	for _, scheme := range otherSchemes {
		if offered[strings.ToLower(scheme)] {
			others = append(others, scheme)
		}
	}
	switch {
	case len(others) > 0 && !offered["basic"]:
		return "wants to be signed in to by " + strings.Join(others, " or ") + ", and a user and password are sent by Basic alone: it needs a proxy between that speaks it"
	case u.user == nil:
		return "wants a user and password, and was given none: http://user:password@host:port gives it some"
	}
	return "refused the user and password that it was given"
}

// upstreamUnread says why no answer came.
func upstreamUnread(err error) error {
	words := " gave no answer that could be read"
	switch {
	case timedOut(err):
		words = " gave no answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		words = " gave no answer, and ended the connection"
	}
	return &upstreamError{UpstreamFailed + words}
}

// upstreamTLS says why there is no TLS with it.
func upstreamTLS(err error) error {
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) {
		return &upstreamError{UpstreamFailed + "'s certificate is not one that this machine trusts for it"}
	}
	return &upstreamError{UpstreamFailed + "'s TLS failed"}
}

// upstreamSOCKS says what an upstream answered over SOCKS5. The client has no
// names for it, only words: what it says otherwise is told without a reason.
func upstreamSOCKS(err error) error {
	if timedOut(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) {
		return upstreamUnread(err)
	}
	for _, is := range [][2]string{
		{"username/password authentication failed", " refused the user and password that it was given"},
		{"no acceptable authentication methods", " refused the user and password that it was given, or wants some"},
		{"connection not allowed by ruleset", " refused it"},
		{"network unreachable", " could not reach it"},
		{"host unreachable", " could not reach it"},
		{"connection refused", " could not reach it"},
		{"address type not supported", " takes no address of that kind"},
	} {
		if strings.Contains(err.Error(), is[0]) {
			return &upstreamError{UpstreamFailed + is[1]}
		}
	}
	return &upstreamError{UpstreamFailed + " refused it, or could not reach it"}
}
