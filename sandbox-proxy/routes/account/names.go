package account

import (
	"slices"
	"strings"
)

// elsewhere are headers that name another path or host than the request line
// does, and are believed by some who serve: frameworks behind a server that
// rewrites, proxies that tell what was asked of them, WebDAV (RFC 4918 section
// 10.3).
var elsewhere = []string{
	"x-original-url", "x-original-uri", "x-rewrite-url", "x-rewrite-uri", "x-override-url", "x-http-destinationurl",
	"x-forwarded-uri", "x-forwarded-path", "x-forwarded-prefix", "x-envoy-original-path", "x-proxy-url", "destination",
	"x-forwarded-url", "x-original-path", "x-original-request-uri", "x-rewrite-path", "x-request-uri", "request-uri", "base-url", "http-url", "proxy-url",
}

// Elsewhere says whether a header names another path than the one that is asked
// for.
func Elsewhere(name string) bool { return slices.Contains(elsewhere, Plain(name)) }

// otherHosts are headers that name another host than Host does, and are believed
// by who serves many of them behind one address (RFC 7239; the rest are habit).
var otherHosts = []string{
	"forwarded", "x-forwarded-host", "x-forwarded-server", "x-forwarded-http-host", "x-original-host", "x-envoy-original-host",
	"x-host", "x-http-host-override", "x-real-host", "x-proxy-host", "x-backend-host",
}

// OtherHost says whether a header names another host than the one that is
// asked. At an address that serves many, that may be anybody's.
func OtherHost(name string) bool { return slices.Contains(otherHosts, Plain(name)) }

// otherMethods are headers that name another method than the request line does,
// for clients that can only say GET and POST.
var otherMethods = []string{"x-http-method-override", "x-http-method", "x-method-override", "x-original-method"}

// OtherMethod says whether a header names another method than the one that is
// asked by.
func OtherMethod(name string) bool { return slices.Contains(otherMethods, Plain(name)) }

// partial are headers that ask for a part of what there is, or for it in a form
// that no Content-Encoding tells of: another character set, where letters are
// other bytes (RFC 9110 sections 12.5.2 and 14.2, RFC 3229 section 10.5.3;
// Netscape's name for a range, which Apache reads, and Azure's).
var partial = []string{"range", "if-range", "request-range", "x-ms-range", "x-range", "a-im", "accept-charset"}

// Partial says whether a header asks for a part of an answer, or for a form of it,
// in which what is to be looked for would not be found.
func Partial(name string) bool { return slices.Contains(partial, Plain(name)) }

// framing are headers by which a request's end and its connection are known.
var framing = []string{
	"content-length", "transfer-encoding", "host", "connection", "upgrade", "expect", "te", "trailer", "keep-alive",
}

// Shadows says whether a header is another spelling of one that frames a
// request, as which it is read behind CGI's naming.
func Shadows(name string) bool {
	return strings.Contains(name, "_") && slices.Contains(framing, Plain(name))
}

// Repeats says whether a method has a host repeat the request that it was sent
// (RFC 9110 section 9.3.8). Some who serve do not tell the case of methods.
func Repeats(method string) bool {
	return strings.EqualFold(method, "TRACE") || strings.EqualFold(method, "TRACK")
}
