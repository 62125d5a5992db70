package secret_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"
)

// BenchmarkRoute measures a secret's route beside net/http/httputil's reverse
// proxy to the same https host, in turns: "ratio" is the route's requests a
// second over the reverse proxy's. The route judges each request, puts the
// secret in, and looks for it in the answer.
//
//	go test -run xxx -bench Route -benchtime 5x ./routes/secret
func BenchmarkRoute(b *testing.B) {
	for _, size := range []int{200, 20 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%d", size), func(b *testing.B) { benchRoute(b, size) })
	}
}

func benchRoute(b *testing.B, size int) {
	body := bytes.Repeat([]byte(`{"id": 12345, "login": "someone", "text": "of the kind that an API says"} `), size/70+1)[:size]
	l := newLab(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		w.Write(body)
	}), header)
	l.quiet = true
	to, err := url.Parse(l.host.URL)
	if err != nil {
		b.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(l.host.Certificate())
	reverse := httputil.NewSingleHostReverseProxy(to)
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: host}, MaxIdleConnsPerHost: 64, DisableCompression: true,
	}
	reverse.Transport = transport
	plain := httptest.NewServer(reverse)
	defer plain.Close()
	defer transport.CloseIdleConnections()

	const clients = 8
	requests := max(100, min(2000, 64<<20/size))
	load := func(address string) float64 {
		t := &http.Transport{MaxIdleConnsPerHost: clients, DisableCompression: true}
		defer t.CloseIdleConnections()
		var wg sync.WaitGroup
		began := time.Now()
		for range clients {
			wg.Go(func() {
				for range requests / clients {
					r, _ := http.NewRequest("GET", address, nil)
					r.Header.Set("Authorization", "Bearer "+placeholder)
					resp, err := t.RoundTrip(r)
					if err != nil {
						b.Error(err)
						return
					}
					n, _ := io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
					if n != int64(size) || resp.StatusCode != 200 {
						b.Errorf("%d, %d bytes", resp.StatusCode, n)
						return
					}
				}
			})
		}
		wg.Wait()
		return float64(requests) / time.Since(began).Seconds()
	}
	route := "http://" + l.at + mounted + "/x"
	load(plain.URL)
	load(route)
	var base, ours float64
	for b.Loop() {
		base = max(base, load(plain.URL))
		ours = max(ours, load(route))
	}
	b.ReportMetric(base, "reverse/s")
	b.ReportMetric(ours, "route/s")
	b.ReportMetric(ours/base, "ratio")
	b.ReportMetric(0, "ns/op")
}
