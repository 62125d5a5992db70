package tokens

func firstOfNumber(c byte) state {
	switch c {
	case '-':
		return inMinus
	case '0':
		return inZero
	}
	return inWhole
}

// number says where a byte leads within a number: wantNext where it is no part
// of it and the number was whole before.
func (s *scanner) number(c byte) state {
	digit := '0' <= c && c <= '9'
	exponent := c == 'e' || c == 'E'
	switch s.state {
	case inMinus:
		if digit {
			return firstOfNumber(c)
		}
		return broken
	case inZero, inWhole:
		switch {
		case digit && s.state == inWhole:
			return inWhole
		case digit:
			return broken // a leading zero
		case c == '.':
			return inPoint
		case exponent:
			return inExponent
		}
	case inPoint, inFraction:
		switch {
		case digit:
			return inFraction
		case s.state == inPoint:
			return broken
		case exponent:
			return inExponent
		}
	case inExponent, inExponentSign, inExponentDigits:
		switch {
		case digit:
			return inExponentDigits
		case s.state == inExponent && (c == '+' || c == '-'):
			return inExponentSign
		case s.state != inExponentDigits:
			return broken
		}
	}
	return wantNext
}

// count reads a whole number of tokens.
func count(text []byte) (n uint64, ok bool) {
	if len(text) > 15 {
		return 0, false // more than anybody was ever billed for
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, len(text) > 0
}
