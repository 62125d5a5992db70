#include "go_asm.h"
#include "textflag.h"

#define SYS_write 1
#define SYS_madvise 28
#define SYS_clone 56
#define SYS_exit 60
#define SYS_wait4 61
#define SYS_getrlimit 97
#define SYS_futex 202
#define SYS_exit_group 231

#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#define PAGE 4096

#define RLIMIT_DATA 2
#define RLIMIT_NPROC 6
#define RLIMIT_NOFILE 7
#define RLIMIT_AS 9

#define CLONE_VM_FS_FILES 0x700
#define FUTEX_WAIT_PRIVATE 128
#define FUTEX_WAKE_PRIVATE 129
#define WALL 0x40000000

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

	// Go's runtime ends with a trace where it has too little of something. One
	// that is not limited, or far above what a start takes, has no end to it.
	MOVQ $RLIMIT_AS, DI
	LEAQ ·limit(SB), SI
	MOVQ $SYS_getrlimit, AX
	SYSCALL
	MOVQ ·limit(SB), AX
	CMPQ AX, ·leastSpace(SB)
	JCS  space

	MOVQ $RLIMIT_DATA, DI
	LEAQ ·limit(SB), SI
	MOVQ $SYS_getrlimit, AX
	SYSCALL
	MOVQ ·limit(SB), AX
	CMPQ AX, ·leastData(SB)
	JCS  data

	MOVQ $RLIMIT_NOFILE, DI
	LEAQ ·limit(SB), SI
	MOVQ $SYS_getrlimit, AX
	SYSCALL
	MOVQ ·limit+8(SB), AX
	CMPQ AX, ·leastFiles(SB)
	JCS  files

	MOVQ $RLIMIT_NPROC, DI
	LEAQ ·limit(SB), SI
	MOVQ $SYS_getrlimit, AX
	SYSCALL
	MOVQ ·limit(SB), AX
	CMPQ AX, ·manyProcesses(SB)
	JCC  begin

	// How many are left of the user's processes is written down nowhere. As
	// many as a start takes are started, which share all that is ours, touch no
	// memory, wait, and end when all are there, or after their time.
	XORQ R12, R12
	LEAQ ·children(SB), R13

start:
	MOVQ $CLONE_VM_FS_FILES, DI
	XORQ SI, SI // on this stack, which they do not touch
	XORQ DX, DX
	XORQ R10, R10
	XORQ R8, R8
	MOVQ $SYS_clone, AX
	SYSCALL
	TESTQ AX, AX
	JEQ  child
	JLT  end
	MOVQ AX, (R13)(R12*8)
	INCQ R12
	CMPQ R12, $const_processes
	JLT  start

end:
	MOVQ AX, R14 // what the last one said
	MOVQ $1, ·gate(SB)
	LEAQ ·gate(SB), DI
	MOVQ $FUTEX_WAKE_PRIVATE, SI
	MOVQ $const_processes, DX
	MOVQ $SYS_futex, AX
	SYSCALL

reap:
	TESTQ R12, R12
	JEQ  told
	DECQ R12
	MOVQ (R13)(R12*8), DI
	XORQ SI, SI
	MOVQ $WALL, DX
	XORQ R10, R10
	MOVQ $SYS_wait4, AX
	SYSCALL
	JMP  reap

told:
	TESTQ R14, R14
	JLT  processes

begin:
	JMP _rt0_amd64_linux(SB)

child:
	LEAQ ·gate(SB), DI
	MOVQ $FUTEX_WAIT_PRIVATE, SI
	XORQ DX, DX
	LEAQ ·patience(SB), R10
	MOVQ $SYS_futex, AX
	SYSCALL
	XORQ DI, DI
	MOVQ $SYS_exit, AX
	SYSCALL
	JMP child

space:
	MOVQ ·noSpace(SB), SI
	MOVQ ·noSpace+8(SB), DX
	JMP  say

data:
	MOVQ ·noData(SB), SI
	MOVQ ·noData+8(SB), DX
	JMP  say

files:
	MOVQ ·noFiles(SB), SI
	MOVQ ·noFiles+8(SB), DX
	JMP  say

processes:
	MOVQ ·noProcesses(SB), SI
	MOVQ ·noProcesses+8(SB), DX

say:
	MOVQ $2, DI
	MOVQ $SYS_write, AX
	SYSCALL

leave:
	MOVQ $const_status, DI
	MOVQ $SYS_exit_group, AX
	SYSCALL
	JMP leave
