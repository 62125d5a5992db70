package route

import "strings"

// Asks says whether a person is asked before the tool is called with these
// words (what follows its own argv).
//
// A call that an entry of Allow names is not: an entry is a list of words, one
// for each of the call's; * in a word is any run of characters in that word,
// none too; a last word * is all the rest of the call, nothing too. The
// words are compared as they are, so an entry that ends in a path's start and
// * allows "..", too.
func (t Tool) Asks(words []string) bool {
	if t.Ask == AskNone {
		return false
	}
	for _, pattern := range t.Allow {
		if allows(pattern, words) {
			return false
		}
	}
	return true
}

func allows(pattern, words []string) bool {
	for i, p := range pattern {
		if p == "*" && i == len(pattern)-1 {
			return true
		}
		if i >= len(words) || !matchWord(p, words[i]) {
			return false
		}
	}
	return len(pattern) == len(words)
}

// matchWord matches a word, taking the first place each part between stars
// fits, which is enough since a star takes anything.
func matchWord(pattern, word string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == word
	}
	first, last := parts[0], parts[len(parts)-1]
	rest, ok := strings.CutPrefix(word, first)
	if !ok {
		return false
	}
	if rest, ok = strings.CutSuffix(rest, last); !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return true
}
