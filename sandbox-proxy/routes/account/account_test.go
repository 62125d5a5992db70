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
	for name, want := range map[string]bool{"X-Original-URL": true, "x_rewrite_url": true, "Destination": true, "X-Forwarded-Uri": true, "X-Forwarded-For": false, "Origin": false} {
		if account.Elsewhere(name) != want {
			t.Errorf("header %s, elsewhere: want %v", name, want)
		}
	}
	for name, want := range map[string]bool{"Forwarded": true, "X-Forwarded-Host": true, "x_host": true, "X-HTTP-Host-Override": true, "Host": false, "X-Forwarded-For": false} {
		if account.OtherHost(name) != want {
			t.Errorf("header %s, another host: want %v", name, want)
		}
	}
	for name, want := range map[string]bool{"X-HTTP-Method-Override": true, "x_method_override": true, "X-HTTP-Method": true, "Method": false} {
		if account.OtherMethod(name) != want {
			t.Errorf("header %s, another method: want %v", name, want)
		}
	}
	for name, want := range map[string]bool{"Content_Length": true, "TRANSFER_encoding": true, "Host": false, "X_Request": false} {
		if account.Shadows(name) != want {
			t.Errorf("header %s, shadows: want %v", name, want)
		}
	}
	for name, want := range map[string]bool{"Range": true, "request_range": true, "X-MS-Range": true, "A-IM": true, "Accept-Charset": true, "Content-Range": false, "Accept-Ranges": false} {
		if account.Partial(name) != want {
			t.Errorf("header %s, partial: want %v", name, want)
		}
	}
	for name, want := range map[string]bool{
		"access.token": true, " Access token": true, "access_token[a][b]": true, "access_token\x00x": true, "[access_token]": false,
		"access_token": true, "Private_Token": true, " api_key ": true, "client_secret": true,
		"key": false, "token": false, "q": false, "page_token": false,
	} {
		if account.Query(name) != want {
			t.Errorf("member %s: want %v", name, want)
		}
	}
}
