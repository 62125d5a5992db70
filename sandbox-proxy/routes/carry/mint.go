package carry

import (
	"net/http"
	"slices"
	"strings"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/judge"
	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/tokens"
)

const refusedCredential judge.Reason = "credential"

// minting are what the paths end in by which an API makes another key for who
// has one: for a browser to talk to it with (OpenAI's Realtime and ChatKit,
// Google's Live), or one that stays (OpenAI's and OpenRouter's administration).
var minting = []string{
	"/client_secrets", "/realtime/sessions", "/realtime/transcription_sessions", "/chatkit/sessions", "/auth_tokens",
	"/admin_api_keys", "/service_accounts", "/api_keys", "/keys",
}

// mints says whether a request asks for another key. A program would have it
// for its own, in and outside of its sandbox, and nobody would count its use.
func mints(method, path string) bool {
	if !strings.EqualFold(method, http.MethodPost) {
		return false
	}
	path = tokens.Plainest(path)
	return slices.ContainsFunc(minting, func(end string) bool { return strings.HasSuffix(path, end) })
}
