#include "textflag.h"

#define SYS_madvise 28
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#define PAGE 4096

// What stands on the stack here (argc, argv, …) is left as the kernel made it;
// registers are free, but for the stack's (System V ABI, AMD64, 3.4.1).
TEXT ·Entry(SB), NOSPLIT|NOFRAME, $0
	// Text and the tables behind it, up to the data. They lie side by side.
	LEAQ runtime·text(SB), DI
	ANDQ $~(PAGE-1), DI
	LEAQ runtime·noptrdata(SB), SI
	ANDQ $~(PAGE-1), SI
	SUBQ DI, SI
	MOVQ $MADV_POPULATE_READ, DX
	MOVQ $SYS_madvise, AX
	SYSCALL

	// Data. What is large is last in it, and hardly touched.
	LEAQ runtime·noptrdata(SB), DI
	ANDQ $~(PAGE-1), DI
	LEAQ runtime·enoptrbss(SB), SI
	SUBQ DI, SI
	CMPQ SI, $(1<<20)
	JLE  whole
	MOVQ $(1<<20), SI

whole:
	MOVQ $MADV_POPULATE_WRITE, DX
	MOVQ $SYS_madvise, AX
	SYSCALL

	JMP _rt0_amd64_linux(SB)
