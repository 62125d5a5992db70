#include "textflag.h"

// func cloneX(flags, stack, m uintptr) (pid uintptr): clone(2), whose child
// runs a body with m, on a stack of its own, and does not return from it. The
// registers that a system call leaves alone are the child's too. 56 is its number.
#define CLONE(NAME, BODY) \
TEXT NAME(SB),NOSPLIT,$0-32 \
	MOVQ	flags+0(FP), DI \
	MOVQ	stack+8(FP), SI \
	MOVQ	m+16(FP), R12   \
	XORL	DX, DX          \
	XORL	R10, R10        \
	XORL	R8, R8          \
	MOVL	$56, AX         \
	SYSCALL                 \
	TESTQ	AX, AX          \
	JEQ	child           \
	MOVQ	AX, pid+24(FP)  \
	RET                     \
child:                          \
	XORL	BP, BP          \
	SUBQ	$16, SP         \
	MOVQ	R12, 0(SP)      \
	CALL	BODY(SB)        \
	INT	$3

CLONE(·cloneFirst, ·first)
CLONE(·cloneProgram, ·become)
CLONE(·cloneWaiting, ·wait)
