package tokens

import (
	"net/http"
	"net/url"
	pathof "path"
	"strings"
)

// Form is how an answer gives its usage.
type Form uint8

const (
	// Messages is Anthropic's: usage in three parts, in a stream at its start
	// and with each message_delta, cumulative.
	Messages Form = iota + 1
	// Completions is OpenAI's Chat Completions and Completions, and what it
	// makes of sound and images: usage on top, in a stream in a chunk of it.
	Completions
	// Responses is OpenAI's: in a stream the last event holds the whole
	// answer, its usage with it.
	Responses
	// Embeddings is OpenAI's: an answer has no tokens of its own.
	Embeddings
	// Generate is Google's generateContent: usageMetadata, in a stream in each
	// piece, cumulative.
	Generate
	// Interactions is Google's: usage on top, in a stream the last event holds
	// what the whole used.
	Interactions
)

// endings are what the path of a request for an answer ends in. The form is
// told by the path and not by who serves it: most servers speak several.
var endings = map[string]Form{
	"messages": Messages, "complete": Messages,
	"chat/completions": Completions, "completions": Completions,
	"responses": Responses, "responses/compact": Responses,
	"embeddings":         Embeddings,
	"interactions":       Interactions,
	"images/generations": Completions, "images/edits": Completions, "images/variations": Completions,
	"audio/speech": Completions, "audio/transcriptions": Completions, "audio/translations": Completions,
}

// methods are what follows the colon in a path of Google's, in lower case,
// where Anthropic's models have a form of their own.
var methods = map[string]Form{
	"generatecontent": Generate, "streamgeneratecontent": Generate,
	"embedcontent": Generate, "batchembedcontents": Generate,
	"rawpredict": Messages, "streamrawpredict": Messages,
}

// FormOf gives the form of the answer that a request asks for; ok is false for
// one that asks for no answer of a model, such as a list of models, a count of
// tokens, a batch, or an answer that is kept and was asked for before. The path
// is as it was sent: however a server may read it, it is told.
func FormOf(method, path string) (f Form, ok bool) {
	if !strings.EqualFold(method, http.MethodPost) {
		return 0, false
	}
	path = Plainest(path)
	before, last := cutLast(path, "/")
	if _, call := cutLast(last, ":"); call != last {
		f, ok = methods[call]
		return f, ok
	}
	if _, above := cutLast(before, "/"); above != "" {
		if f, ok = endings[above+"/"+last]; ok {
			return f, true
		}
	}
	f, ok = endings[last]
	return f, ok
}

// maxEscapes is how often an escape may be escaped.
const maxEscapes = 3

// Plainest is what a path is compared with known ones as: with no escapes,
// parameters, empty or dot segments, in lower case. Some servers take it for that,
// others answer with an error.
func Plainest(path string) string {
	for range maxEscapes {
		plain, err := url.PathUnescape(path)
		if err != nil || plain == path {
			break
		}
		path = plain
	}
	path, _, _ = strings.Cut(path, "?")
	path, _, _ = strings.Cut(path, "#")
	segments := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	for i, s := range segments {
		s, _, _ = strings.Cut(s, ";")
		segments[i] = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	}
	return strings.ToLower(pathof.Clean("/" + strings.Join(segments, "/")))
}

// cutLast cuts around the last sep; without one, all is after it.
func cutLast(s, sep string) (before, after string) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):]
	}
	return "", s
}
