package account_test

import (
	"testing"

	"github.com/lnkhq/lnk-sandbox/sandbox-proxy/routes/account"
)

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{
		"Authorization": true, "X-API-Key": true, "x_api_key": true, "Private-Token": true, "PRIVATE_TOKEN": true, "Job-Token": true,
		"X-Auth-Key": true, "X-Access-Token": true, "cookie": true, "Proxy-Authorization": true,
		"Accept": false, "X-Request-Id": false, "Content-Type": false, "Token-Count": false,
	} {
		if account.Header(name) != want {
			t.Errorf("header %s: want %v", name, want)
		}
	}
	for name, want := range map[string]bool{
		"access_token": true, "Private_Token": true, " api_key ": true, "client_secret": true,
		"key": false, "token": false, "q": false, "page_token": false,
	} {
		if account.Query(name) != want {
			t.Errorf("member %s: want %v", name, want)
		}
	}
}
