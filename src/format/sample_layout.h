/* sample_layout.h: where threads were when the recorder looked, and what memory they accessed
 * there, in a trace: rows of the definitions SAMPLES and SHARED. A part of layout.h, which includes
 * it. */
#ifndef HEURT_FORMAT_SAMPLE_LAYOUT_H
#define HEURT_FORMAT_SAMPLE_LAYOUT_H

#include <stdint.h>

enum heurt_access {
    HEURT_ACCESS_NONE = 0, /* the thread was not at memory */
    HEURT_ACCESS_READ = 1,
    HEURT_ACCESS_WRITE = 2,
    HEURT_ACCESS_UPDATE = 3, /* reads, then writes, or its loop writes the same */
    HEURT_ACCESS_ATOMIC = 4, /* likewise, in one piece */
    HEURT_ACCESS_SPIN = 5,   /* reads in a loop that does nothing else */
    HEURT_ACCESS_TAKE = 6, /* exchanges in a loop that does nothing else, as spin locks are taken */
};

/* What the data of a sample lie in. */
enum heurt_region {
    HEURT_REGION_UNKNOWN = 0,
    HEURT_REGION_FILE = 1,  /* a mapped file: static objects above all */
    HEURT_REGION_STACK = 2, /* of whatever thread */
    HEURT_REGION_HEAP = 3,  /* other memory of the process' own */
    HEURT_REGION_SHARED = 4 /* of several processes */
};

/* Where a thread was when the recorder looked at it. */
struct heurt_sample {
    uint64_t monotonic_ns; /* of CLOCK_MONOTONIC */
    uint64_t instruction;  /* its address: the one that accesses, else the interrupted one */
    uint64_t address;      /* of the data; 0: not known */
    uint32_t pid, tid;
    uint32_t weight_ns;        /* CPU time that it stands for */
    uint8_t access : 4;        /* enum heurt_access */
    uint8_t region : 3;        /* enum heurt_region */
    uint8_t is_worked_out : 1; /* of the address: a word that it is made of was read later */
    uint8_t bytes;             /* that are accessed, 255 at most */
    uint16_t loop_least; /* 1/16 ns that an iteration of the counted loop that it is in takes when
                            nobody takes lines from it, 65535 at most; 0: in none, or not known */
    uint32_t iterations; /* of that loop since the thread's last sample; 0: not known */
    uint32_t iterations_ns; /* that they took */
};

/* Memory that other processes may have mapped, too, in which a sample was (HEURT_REGION_SHARED):
 * what has the same place in the same file is the same, whatever address it has in each of them.
 * Memory without a name is a file of the kernel's own. */
struct heurt_shared_range {
    uint32_t pid, reserved;
    uint64_t start, end;            /* end: one past */
    uint64_t device, inode, offset; /* of the file, and in it, of start */
};

#endif
