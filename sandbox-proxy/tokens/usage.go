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
	case Interactions:
		u, ok = interactionsUsage(f)
	default:
		u, ok = openAIUsage(f, form == Embeddings)
	}
	if !ok || f.bad || u.Cached+u.Written > u.Input {
		return Usage{}, false
	}
	return u, true
}

// messagesUsage sums the three parts that Anthropic gives the prompt in, and
// adds what was used to make the conversation shorter, which it tells apart.
func messagesUsage(f *found) (Usage, bool) {
	fresh, in := f.get(inputTokens)
	output, out := f.get(outputTokens)
	cached, _ := f.get(cacheRead)
	written, _ := f.get(cacheCreation)
	cached, written = cached+f.shorter.read, written+f.shorter.written
	return Usage{
		Input:  fresh + f.shorter.input + cached + written,
		Output: output + f.shorter.output, Cached: cached, Written: written,
	}, in && out
}

// openAIUsage reads the names of both of OpenAI's forms, and those that
// compatible servers put beside them. What is left out follows from the total.
func openAIUsage(f *found, embeddings bool) (Usage, bool) {
	input, in := f.first(promptTokens, inputTokens)
	output, out := f.first(completionTokens, outputTokens)
	total, summed := f.get(totalTokens)
	switch {
	case in && out:
		output += unseen(f, input+output, total)
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

// unseen is what a total has more than both sides: thinking that a server does
// not count in its answer (xAI, and Google in OpenAI's form). Where the server
// tells the thinking and it is not that, nobody knows what it is.
func unseen(f *found, sides, total uint64) uint64 {
	thinking, told := f.get(detailsReasoning)
	if total <= sides || told && thinking != total-sides {
		return 0
	}
	return total - sides
}

// interactionsUsage reads Google's newer form. What was thought and what tools
// were asked with stands beside both sides, unless the total is theirs alone.
func interactionsUsage(f *found) (Usage, bool) {
	input, in := f.get(totalInput)
	output, _ := f.get(totalOutput)
	total, summed := f.get(totalTokens)
	if !summed || total != input+output {
		tools, _ := f.get(totalToolUse)
		thoughts, _ := f.get(totalThought)
		input, output = input+tools, output+thoughts
	}
	cached, _ := f.get(totalCached)
	return Usage{Input: input, Output: output, Cached: cached}, in || summed
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
