package tokens

// Usage is what one answer used.
type Usage struct {
	_ [0]func()

	// Input is the prompt's tokens, cached or not.
	Input uint64
	// Output is the answer's tokens, those of thinking included.
	Output uint64
	// Cached is, of Input, the tokens read from the provider's cache.
	Cached uint64
	// Written is, of Input, the tokens written to it.
	Written uint64
}

// usage reads what was found as a form gives it. It is false where that is not
// enough to know both sides, or contradicts itself.
func (form Form) read(f *found) (u Usage, ok bool) {
	switch form {
	case Messages:
		u, ok = messagesUsage(f)
	case Generate:
		u, ok = generateUsage(f)
	default:
		u, ok = openAIUsage(f, form == Embeddings)
	}
	if !ok || f.bad || u.Cached+u.Written > u.Input {
		return Usage{}, false
	}
	return u, true
}

// messagesUsage sums the three parts that Anthropic gives the prompt in.
func messagesUsage(f *found) (Usage, bool) {
	fresh, in := f.get(inputTokens)
	output, out := f.get(outputTokens)
	cached, _ := f.get(cacheRead)
	written, _ := f.get(cacheCreation)
	return Usage{Input: fresh + cached + written, Output: output, Cached: cached, Written: written}, in && out
}

// openAIUsage reads the names of both of OpenAI's forms, and those that
// compatible servers put beside them. What is left out follows from the total.
func openAIUsage(f *found, embeddings bool) (Usage, bool) {
	input, in := f.first(promptTokens, inputTokens)
	output, out := f.first(completionTokens, outputTokens)
	total, summed := f.get(totalTokens)
	switch {
	case in && out:
	case embeddings && in:
	case embeddings && summed && !out:
		input = total
	case in && summed && total >= input:
		output = total - input
	case out && summed && total >= output:
		input = total - output
	default:
		return Usage{}, false
	}
	cached, _ := f.first(detailsCached, cacheHit, cacheRead)
	written, _ := f.first(detailsWritten, cacheCreation)
	return Usage{Input: input, Output: output, Cached: cached, Written: written}, true
}

// generateUsage reads Google's, which leaves out what is zero.
func generateUsage(f *found) (Usage, bool) {
	prompt, in := f.get(promptTokenCount)
	_, summed := f.get(totalTokenCount)
	tools, _ := f.get(toolPromptTokenCount)
	answer, _ := f.get(candidatesTokenCount)
	thoughts, _ := f.get(thoughtsTokenCount)
	cached, _ := f.get(cachedTokenCount)
	return Usage{Input: prompt + tools, Output: answer + thoughts, Cached: cached}, in || summed
}
