/* modules.h: what modules_one.c and modules_other.c offer to modules.c and to each other. */
#ifndef HEURT_TORTURE_MODULES_H
#define HEURT_TORTURE_MODULES_H

long m_shared(long n);
long m_calls_shared(long n);
long m_calls_back(long (*function)(long), long n);
long m_stack(long a, long b, long c, long d, long e, long f, long g);
long m_other_calls_shared(long n);

#endif
