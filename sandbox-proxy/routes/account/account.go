package account

import (
	"slices"
	"strings"
)

// Cookie is the header of a session: a client keeps it without being asked to,
// so that it is left out where others are refused.
const Cookie = "cookie"

// headers are those that carry credentials, in [Plain] form.
var headers = []string{
	"authorization", "proxy-authorization", Cookie,
	"api-key", "apikey", "x-api-key", "x-apikey", "x-goog-api-key", "x-auth-key", "x-auth-token", "x-access-token", "x-api-token",
	"auth-token", "access-token", "private-token", "job-token", "deploy-token", "x-vault-token", "x-amz-security-token",
	"x-github-token", "x-gitlab-token", "x-figma-token", "dd-api-key", "dd-application-key",
}

// members are those of a query that do. "key" and "token" alone are not here:
// on most hosts they are no credential.
var members = []string{
	"api_key", "api-key", "apikey", "access_token", "access-token", "oauth_token", "auth_token", "private_token", "private-token", "job_token",
	"x-goog-api-key", "x-amz-security-token", "client_secret",
}

// Plain is a header's name as hosts compare it: in lower case, an underscore as
// a hyphen, as behind CGI it is one.
func Plain(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "-") }

// Header says whether a header carries credentials.
func Header(name string) bool { return slices.Contains(headers, Plain(name)) }

// Member is a query's member, its name as it is behind percent-decoding, as hosts
// compare it that take the most for one: in any case, without what follows a NUL
// or a bracket, and with an underscore for a dot or a space, as PHP has it.
func Member(name string) string {
	if at := strings.IndexAny(name, "\x00["); at > 0 {
		name = name[:at]
	}
	return strings.NewReplacer(".", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(name)))
}

// Query says whether a member of a query does, its name as it is behind
// percent-decoding.
func Query(name string) bool { return slices.Contains(members, Member(name)) }
