#include "textflag.h"

// func cloneX(flags, stack, m uintptr) (pid uintptr): clone(2), whose child
// runs a body with m, on a stack of its own, and does not return from it. The
// registers that a system call leaves alone are the child's too. 220 is its number.
#define CLONE(NAME, BODY) \
TEXT NAME(SB),NOSPLIT,$0-32 \
	MOVD	flags+0(FP), R0 \
	MOVD	stack+8(FP), R1 \
	MOVD	m+16(FP), R19   \
	MOVD	ZR, R2          \
	MOVD	ZR, R3          \
	MOVD	ZR, R4          \
	MOVD	$220, R8        \
	SVC                     \
	CBZ	R0, child       \
	MOVD	R0, pid+24(FP)  \
	RET                     \
child:                          \
	MOVD	ZR, R29         \
	SUB	$32, RSP        \
	MOVD	R19, 8(RSP)     \
	BL	BODY(SB)        \
	BRK

CLONE(·cloneFirst, ·first)
CLONE(·cloneProgram, ·become)
CLONE(·cloneWaiting, ·wait)
