package carry_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A program that is gone before a model's answer comes has had it made all the
// same: its call counts, as one whose use is not known, and so does one that the
// server gives no answer to. One that the server did not get whole does not, nor
// one that asks for no answer of a model.
func TestLeftBeforeTheAnswer(t *testing.T) {
	came := make(chan error, 1)
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		came <- err
		if r.URL.Path == "/v1/responses" || err != nil {
			panic(http.ErrAbortHandler) // no answer at all
		}
		<-r.Context().Done()
	})
	l := start(t, model("http://"+at+"/v1"), nil)
	for _, c := range []struct {
		path, body string
		cut        bool
	}{
		{"/chat/completions", "Content-Length: 7\r\n\r\n{}", true},
		{"/chat/completions", "Content-Length: 2\r\n\r\n{}", false},
		{"/responses", "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", false},
		{"/models", "Content-Length: 2\r\n\r\n{}", false},
		{"/embeddings", "\r\n", false},
	} {
		conn, err := net.Dial("tcp", l.at)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		io.WriteString(conn, "POST "+strings.TrimPrefix(l.base, "http://"+l.at)+c.path+" HTTP/1.1\r\nHost: "+l.at+"\r\n"+c.body)
		if c.cut {
			conn.(*net.TCPConn).CloseWrite()
		}
		select {
		case err := <-came:
			if c.cut != (err != nil) {
				t.Errorf("%s: %v", c.path, err)
			}
		case <-time.After(patience):
			t.Fatal("nothing came to the model")
		}
		conn.(*net.TCPConn).SetLinger(0) // a closed side alone may still be waiting
		conn.Close()
	}
	if got := l.counts(3); got != [6]uint64{3, 3} {
		t.Errorf("counted %v", got)
	}
}
