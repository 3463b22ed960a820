/* first_libraries.h: which libraries have to stand in front of the runtime. A part of layout.h,
 * which includes it. */
#ifndef HEURT_FORMAT_FIRST_LIBRARIES_H
#define HEURT_FORMAT_FIRST_LIBRARIES_H

/* How the names of libraries begin that insist on being the first one that is loaded: a program
 * that needs one gets it in LD_PRELOAD in front of the runtime. */
#define HEURT_FIRST_LIBRARIES                                                         \
    {                                                                                 \
        "libasan.so", "libtsan.so", "liblsan.so", "libhwasan.so", "libclang_rt.asan", \
            "libclang_rt.tsan", "libclang_rt.lsan", "libclang_rt.hwasan"              \
    }
#define HEURT_LIBRARY_NAME_MAX 64 /* longer names are not looked at */

#endif
