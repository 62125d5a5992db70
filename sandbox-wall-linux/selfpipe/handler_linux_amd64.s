#include "textflag.h"

#define SYS_write 1
#define SYS_rt_sigreturn 15

// What the kernel calls with a signal's number in DI. What it changes of the
// registers is set back on return (sigreturn(2)), and errno is none here.
TEXT ·handler(SB), NOSPLIT|NOFRAME, $0
	SUBQ $8, SP
	MOVQ DI, (SP)
	MOVL ·writeEnd(SB), DI
	MOVQ SP, SI
	MOVQ $1, DX // the number's lowest byte: there are 64
	MOVQ $SYS_write, AX
	SYSCALL
	ADDQ $8, SP
	RET

// What the handler returns to.
TEXT ·restore(SB), NOSPLIT|NOFRAME, $0
	MOVQ $SYS_rt_sigreturn, AX
	SYSCALL
	INT  $3

// func addresses() (handler, restorer uintptr)
TEXT ·addresses(SB), NOSPLIT, $0-16
	LEAQ ·handler(SB), AX
	MOVQ AX, handler+0(FP)
	LEAQ ·restore(SB), AX
	MOVQ AX, restorer+8(FP)
	RET
