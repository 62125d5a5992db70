package labtest

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/net/websocket"
)

// serveWorld is the world: its servers run until standard input ends.
func serveWorld(state string) error {
	in := bufio.NewReader(os.Stdin)
	if _, err := in.ReadString('\n'); err != nil {
		return err
	}
	if err := worldUp(); err != nil {
		return err
	}
	cert, err := makeCertificates(state, AllowedName, OtherName, LANName, MixedName, "*.wild.test")
	if err != nil {
		return err
	}
	if err := makeRepository(state); err != nil {
		return err
	}
	if err := serveNames(state); err != nil {
		return err
	}
	handler, err := worldHandler(state)
	if err != nil {
		return err
	}
	for _, addr := range []string{ServerAddr, OtherAddr, LANAddr} {
		plain, err := net.Listen("tcp", net.JoinHostPort(addr, "80"))
		if err != nil {
			return err
		}
		go http.Serve(plain, handler)
		secure, err := net.Listen("tcp", net.JoinHostPort(addr, "443"))
		if err != nil {
			return err
		}
		server := &http.Server{
			Handler: handler, ErrorLog: log.New(io.Discard, "", 0),
			TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}},
		}
		go server.ServeTLS(secure, "", "") // HTTP/2 too
		echo, err := net.Listen("tcp", net.JoinHostPort(addr, "7777"))
		if err != nil {
			return err
		}
		go serveEcho(state, echo)
		greet, err := net.Listen("tcp", net.JoinHostPort(addr, "7778"))
		if err != nil {
			return err
		}
		go serveGreeting(greet)
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, in)
	return err
}

// worldHandler answers every server's requests: /hello with a greeting that
// names the host, /git/… as git's own server, /socket as a WebSocket that sends
// back what it gets, /lab.Echo/Say as a gRPC stream that does so, anything else
// with 404. Each request is noted.
func worldHandler(state string) (http.Handler, error) {
	path, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return nil, fmt.Errorf("git: %w", err)
	}
	git := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"),
		Root: "/git",
		Env:  []string{"GIT_PROJECT_ROOT=" + filepath.Join(state, "git"), "GIT_HTTP_EXPORT_ALL=1"},
	}
	mux := http.NewServeMux()
	mux.Handle("/git/", git)
	mux.HandleFunc("/hello", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "hello from %s\n", r.Host) })
	mux.HandleFunc("/lab.Echo/Say", serveCall)
	mux.Handle("/socket", websocket.Server{Handler: func(c *websocket.Conn) { io.Copy(c, c) }})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(state, "requests", r.Method+" "+r.Host+r.URL.Path)
		mux.ServeHTTP(w, r)
	}), nil
}

// serveCall is a gRPC method whose answer is what it is asked, message by
// message, each a flag, a length of four bytes and that many more.
func serveCall(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	flush.Flush()
	for b := make([]byte, 4<<10); ; {
		n, err := r.Body.Read(b)
		if _, err := w.Write(b[:n]); err != nil {
			return
		}
		flush.Flush()
		if err != nil {
			break
		}
	}
	w.Header().Set("Grpc-Status", "0")
}

// serveEcho sends back what it gets: a protocol that is neither HTTP nor TLS.
func serveEcho(state string, l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		note(state, "requests", "ECHO "+c.LocalAddr().String())
		go func() {
			defer c.Close()
			io.Copy(c, c)
		}()
	}
}

// serveGreeting speaks first, as a database does.
func serveGreeting(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		io.WriteString(c, "greeting\n")
		c.Close()
	}
}

// makeRepository makes one bare repository with one commit: /git/project.git.
func makeRepository(state string) error {
	bare := filepath.Join(state, "git", "project.git")
	work := filepath.Join(state, "work")
	for _, argv := range [][]string{
		{"git", "init", "-q", "--bare", bare},
		{"git", "init", "-q", work},
		{"git", "-C", work, "-c", "user.name=lab", "-c", "user.email=lab@allowed.test", "commit", "-q", "--allow-empty", "-m", "first"},
		{"git", "-C", work, "push", "-q", bare, "HEAD:refs/heads/main"},
		{"git", "-C", bare, "symbolic-ref", "HEAD", "refs/heads/main"},
	} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, out)
		}
	}
	return nil
}
