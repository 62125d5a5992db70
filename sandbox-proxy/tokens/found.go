package tokens

// A name is one that an answer's usage lies behind.
type name uint8

const (
	otherName name = iota
	inArray        // an element of an array
	usageName
	usageMetadataName
	messageName
	responseName
	groqName
	promptDetailsName
	inputDetailsName
	outputDetailsName
	choicesName
	iterationsName
	interactionName
	eventTypeName
	typeName
	firstCount // from here on, what is counted
)

// What is counted, of every form.
const (
	inputTokens = firstCount + iota
	outputTokens
	promptTokens
	completionTokens
	totalTokens
	cacheRead
	cacheCreation
	cacheHit
	detailsCached
	detailsWritten
	detailsReasoning
	totalInput
	totalOutput
	totalThought
	totalCached
	totalToolUse
	promptTokenCount
	toolPromptTokenCount
	candidatesTokenCount
	thoughtsTokenCount
	cachedTokenCount
	totalTokenCount
	names
)

var known = map[string]name{
	"usage": usageName, "usageMetadata": usageMetadataName, "type": typeName,
	"message": messageName, "response": responseName, "x_groq": groqName,
	"prompt_tokens_details": promptDetailsName, "input_tokens_details": inputDetailsName,
	"completion_tokens_details": outputDetailsName, "output_tokens_details": outputDetailsName,
	"choices": choicesName, "iterations": iterationsName, "interaction": interactionName, "event_type": eventTypeName,

	"input_tokens": inputTokens, "output_tokens": outputTokens,
	"prompt_tokens": promptTokens, "completion_tokens": completionTokens, "total_tokens": totalTokens,
	"cache_read_input_tokens": cacheRead, "cache_creation_input_tokens": cacheCreation,
	"prompt_cache_hit_tokens": cacheHit, // DeepSeek
	"cached_tokens":           detailsCached,
	"cache_write_tokens":      detailsWritten, // OpenRouter
	"reasoning_tokens":        detailsReasoning,

	"total_input_tokens": totalInput, "total_output_tokens": totalOutput, "total_thought_tokens": totalThought,
	"total_cached_tokens": totalCached, "total_tool_use_tokens": totalToolUse,

	"promptTokenCount": promptTokenCount, "toolUsePromptTokenCount": toolPromptTokenCount,
	"candidatesTokenCount": candidatesTokenCount, "thoughtsTokenCount": thoughtsTokenCount,
	"cachedContentTokenCount": cachedTokenCount, "totalTokenCount": totalTokenCount,
}

func nameOf(text []byte, long bool) name {
	if long {
		return otherName
	}
	return known[string(text)]
}

type kind uint8

const (
	aNumber kind = iota
	aString
	aBool
	aNull
)

// found is what was found in one document, or in all of a stream's.
type found struct {
	counts [names - firstCount]uint64
	given  uint32 // a bit a count
	bad    bool   // a count that is none
	event  event
	// Of Anthropic's iterations of one answer, the one under way, and the sum
	// of those that made the conversation shorter: what usage has on top leaves
	// them out.
	iteration, shorter iteration
}

// An iteration is what one took of an answer that took several.
type iteration struct {
	compaction                   bool
	input, output, read, written uint64
}

// An event is what a document says that it is, where that means something.
type event uint8

const (
	noEvent event = iota
	messageDelta
	messageStop
	responseOver
	interactionOver
)

var events = map[string]event{
	"message_delta": messageDelta, "message_stop": messageStop,
	"response.completed": responseOver, "response.incomplete": responseOver, "response.failed": responseOver,
	"interaction.completed": interactionOver, "interaction.complete": interactionOver,
}

// note takes a scalar at a path. Only the places that the forms have count: a
// model can write what looks like usage, but only deeper.
func (f *found) note(form Form, path []name, kind kind, text []byte, long bool) {
	if eventName := form.eventName(); len(path) == 1 && path[0] == eventName {
		if kind == aString && !long {
			f.event = events[string(text)]
		}
		return
	}
	path, holder := form.usage(path)
	if len(path) == 0 || kind == aNull {
		return
	}
	last := path[len(path)-1]
	if form == Messages && len(path) == 3 && path[0] == iterationsName && path[1] == inArray {
		f.noteIteration(last, kind, text, long)
		return
	}
	inDetails := len(path) == 2 && (path[0] == promptDetailsName || path[0] == inputDetailsName)
	outDetails := len(path) == 2 && path[0] == outputDetailsName
	switch {
	case outDetails != (last == detailsReasoning):
		return
	case last < firstCount, len(path) > 1 && !inDetails && !outDetails:
		return
	case inDetails && last != detailsCached && last != detailsWritten:
		return
	case (holder == usageMetadataName) != (last >= promptTokenCount):
		return
	}
	n, ok := count(text)
	if kind != aNumber || long || !ok {
		f.bad = true
		return
	}
	f.set(last, n)
}

// eventName is the member that says what a document of a stream is.
func (form Form) eventName() name {
	if form == Interactions {
		return eventTypeName
	}
	return typeName
}

func (f *found) noteIteration(last name, kind kind, text []byte, long bool) {
	it := &f.iteration
	var to *uint64
	switch last {
	case typeName:
		it.compaction = kind == aString && !long && string(text) == "compaction"
		return
	case inputTokens:
		to = &it.input
	case outputTokens:
		to = &it.output
	case cacheRead:
		to = &it.read
	case cacheCreation:
		to = &it.written
	default:
		return
	}
	n, ok := count(text)
	if kind != aNumber || long || !ok {
		f.bad = true
		return
	}
	*to = n
}

// left says that an object or an array at a path is over.
func (f *found) left(form Form, path []name) {
	if form != Messages || len(path) == 0 {
		return
	}
	if path, _ = form.usage(path); len(path) != 2 || path[0] != iterationsName || path[1] != inArray {
		return
	}
	if it := f.iteration; it.compaction {
		f.shorter.compaction = true
		f.shorter.input += it.input
		f.shorter.output += it.output
		f.shorter.read += it.read
		f.shorter.written += it.written
	}
	f.iteration = iteration{}
}

// usage gives what of a path lies in an answer's usage, and what holds it.
func (form Form) usage(path []name) ([]name, name) {
	switch {
	case form == Generate && path[0] == inArray,
		form == Messages && path[0] == messageName,
		form == Responses && path[0] == responseName,
		form == Interactions && path[0] == interactionName,
		form == Completions && path[0] == groqName:
		path = path[1:]
	case form == Completions && len(path) > 2 && path[0] == choicesName && path[1] == inArray: // Moonshot, streamed
		path = path[2:]
	}
	want := usageName
	if form == Generate {
		want = usageMetadataName
	}
	if len(path) < 2 || path[0] != want {
		return nil, 0
	}
	return path[1:], want
}

func (f *found) set(n name, v uint64) {
	f.counts[n-firstCount] = v
	f.given |= 1 << (n - firstCount)
}

func (f *found) get(n name) (v uint64, given bool) {
	return f.counts[n-firstCount], f.given>>(n-firstCount)&1 == 1
}

// first gives the first of the counts that is given.
func (f *found) first(of ...name) (v uint64, given bool) {
	for _, n := range of {
		if v, given = f.get(n); given {
			return v, true
		}
	}
	return 0, false
}

// add takes what a later document of a stream gives: every form's counts are
// cumulative, so the last word of each is the one that holds. A zero is none:
// some servers say the prompt's tokens at the start, and zero at the end.
func (f *found) add(later *found) {
	for n := firstCount; n < names; n++ {
		if v, given := later.get(n); given && (v > 0 || f.given>>(n-firstCount)&1 == 0) {
			f.set(n, v)
		}
	}
	if later.shorter.compaction {
		f.shorter = later.shorter
	}
	f.bad = f.bad || later.bad
}
