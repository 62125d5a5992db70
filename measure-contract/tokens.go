package measure

// Tokens is what the answers of a model route used: what lnk-model's bridge
// and the proxy count, from whole and streamed answers alike. Each member is
// a count since the route was mounted.
type Tokens struct {
	_ [0]func()

	// Requests are the requests for a model's answer that were answered.
	Requests uint64 `json:"requests"`
	// Unmetered are those of Requests whose answer gave no usage; the members
	// below are of the rest.
	Unmetered uint64 `json:"unmetered"`
	// Input is the prompts' tokens, cached or not. (Anthropic gives them in
	// three parts, which are summed.)
	Input uint64 `json:"input"`
	// Output is the answers' tokens.
	Output uint64 `json:"output"`
	// Cached is, of Input, the tokens read from the provider's cache.
	Cached uint64 `json:"cached"`
	// Written is, of Input, the tokens written to the provider's cache.
	Written uint64 `json:"written"`
}

// Add adds what another count holds. A sum too large to hold stays at the
// largest number, so that it never seems small.
func (t *Tokens) Add(o Tokens) {
	t.Requests = sum(t.Requests, o.Requests)
	t.Unmetered = sum(t.Unmetered, o.Unmetered)
	t.Input = sum(t.Input, o.Input)
	t.Output = sum(t.Output, o.Output)
	t.Cached = sum(t.Cached, o.Cached)
	t.Written = sum(t.Written, o.Written)
}

func sum(a, b uint64) uint64 {
	if c := a + b; c >= a {
		return c
	}
	return ^uint64(0)
}
