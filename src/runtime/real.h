/* real.h: the functions behind the hooks, found by dlsym(RTLD_NEXT). */
#ifndef HEURT_RUNTIME_REAL_H
#define HEURT_RUNTIME_REAL_H

#include <dirent.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* X(name, result, parameters). */
#define REAL_FUNCTIONS(X)                                                                          \
    X(syscall, long, (long, ...)) /* stub.S knows that it is the first */                          \
    X(prctl, int, (int, ...))                                                                      \
    X(setrlimit, int, (__rlimit_resource_t, const struct rlimit *))                                \
    X(prlimit, int, (pid_t, __rlimit_resource_t, const struct rlimit *, struct rlimit *))          \
    X(setuid, int, (uid_t))                                                                        \
    X(seteuid, int, (uid_t))                                                                       \
    X(setreuid, int, (uid_t, uid_t))                                                               \
    X(setresuid, int, (uid_t, uid_t, uid_t))                                                       \
    X(sigaction, int, (int, const struct sigaction *, struct sigaction *))                         \
    X(signal, __sighandler_t, (int, __sighandler_t))                                               \
    X(pthread_sigmask, int, (int, const sigset_t *, sigset_t *))                                   \
    X(sigprocmask, int, (int, const sigset_t *, sigset_t *))                                       \
    X(signalfd, int, (int, const sigset_t *, int))                                                 \
    X(sigaltstack, int, (const stack_t *, stack_t *))                                              \
    X(mlockall, int, (int))                                                                        \
    X(pthread_create, int, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))       \
    X(pthread_join, int, (pthread_t, void **))                                                     \
    X(pthread_tryjoin_np, int, (pthread_t, void **))                                               \
    X(pthread_timedjoin_np, int, (pthread_t, void **, const struct timespec *))                    \
    X(pthread_clockjoin_np, int, (pthread_t, void **, clockid_t, const struct timespec *))         \
    X(pthread_setname_np, int, (pthread_t, const char *))                                          \
    X(pthread_key_create, int, (pthread_key_t *, void (*)(void *)))                                \
    X(pthread_mutex_init, int, (pthread_mutex_t *, const pthread_mutexattr_t *))                   \
    X(pthread_mutex_lock, int, (pthread_mutex_t *))                                                \
    X(pthread_mutex_trylock, int, (pthread_mutex_t *))                                             \
    X(pthread_mutex_timedlock, int, (pthread_mutex_t *, const struct timespec *))                  \
    X(pthread_mutex_clocklock, int, (pthread_mutex_t *, clockid_t, const struct timespec *))       \
    X(pthread_mutex_unlock, int, (pthread_mutex_t *))                                              \
    X(pthread_rwlock_init, int, (pthread_rwlock_t *, const pthread_rwlockattr_t *))                \
    X(pthread_rwlock_rdlock, int, (pthread_rwlock_t *))                                            \
    X(pthread_rwlock_tryrdlock, int, (pthread_rwlock_t *))                                         \
    X(pthread_rwlock_timedrdlock, int, (pthread_rwlock_t *, const struct timespec *))              \
    X(pthread_rwlock_clockrdlock, int, (pthread_rwlock_t *, clockid_t, const struct timespec *))   \
    X(pthread_rwlock_wrlock, int, (pthread_rwlock_t *))                                            \
    X(pthread_rwlock_trywrlock, int, (pthread_rwlock_t *))                                         \
    X(pthread_rwlock_timedwrlock, int, (pthread_rwlock_t *, const struct timespec *))              \
    X(pthread_rwlock_clockwrlock, int, (pthread_rwlock_t *, clockid_t, const struct timespec *))   \
    X(pthread_rwlock_unlock, int, (pthread_rwlock_t *))                                            \
    X(pthread_spin_init, int, (pthread_spinlock_t *, int))                                         \
    X(pthread_spin_lock, int, (pthread_spinlock_t *))                                              \
    X(pthread_spin_trylock, int, (pthread_spinlock_t *))                                           \
    X(pthread_spin_unlock, int, (pthread_spinlock_t *))                                            \
    X(pthread_cond_init, int, (pthread_cond_t *, const pthread_condattr_t *))                      \
    X(pthread_cond_wait, int, (pthread_cond_t *, pthread_mutex_t *))                               \
    X(pthread_cond_timedwait, int, (pthread_cond_t *, pthread_mutex_t *, const struct timespec *)) \
    X(pthread_cond_clockwait, int,                                                                 \
      (pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *))                   \
    X(pthread_cond_signal, int, (pthread_cond_t *))                                                \
    X(pthread_cond_broadcast, int, (pthread_cond_t *))                                             \
    X(pthread_barrier_init, int, (pthread_barrier_t *, const pthread_barrierattr_t *, unsigned))   \
    X(pthread_barrier_wait, int, (pthread_barrier_t *))                                            \
    X(sem_init, int, (sem_t *, int, unsigned))                                                     \
    X(sem_wait, int, (sem_t *))                                                                    \
    X(sem_trywait, int, (sem_t *))                                                                 \
    X(sem_timedwait, int, (sem_t *, const struct timespec *))                                      \
    X(sem_clockwait, int, (sem_t *, clockid_t, const struct timespec *))                           \
    X(sem_post, int, (sem_t *))                                                                    \
    X(thrd_create, int, (thrd_t *, thrd_start_t, void *))                                          \
    X(thrd_join, int, (thrd_t, int *))                                                             \
    X(thrd_sleep, int, (const struct timespec *, struct timespec *))                               \
    X(thrd_yield, void, (void))                                                                    \
    X(mtx_init, int, (mtx_t *, int))                                                               \
    X(mtx_lock, int, (mtx_t *))                                                                    \
    X(mtx_trylock, int, (mtx_t *))                                                                 \
    X(mtx_timedlock, int, (mtx_t *, const struct timespec *))                                      \
    X(mtx_unlock, int, (mtx_t *))                                                                  \
    X(cnd_init, int, (cnd_t *))                                                                    \
    X(cnd_wait, int, (cnd_t *, mtx_t *))                                                           \
    X(cnd_timedwait, int, (cnd_t *, mtx_t *, const struct timespec *))                             \
    X(cnd_signal, int, (cnd_t *))                                                                  \
    X(cnd_broadcast, int, (cnd_t *))                                                               \
    X(mmap, void *, (void *, size_t, int, int, int, off_t))                                        \
    X(munmap, int, (void *, size_t))                                                               \
    X(mprotect, int, (void *, size_t, int))                                                        \
    X(madvise, int, (void *, size_t, int))                                                         \
    X(mremap, void *, (void *, size_t, size_t, int, void *))                                       \
    X(flock, int, (int, int))                                                                      \
    X(fcntl, int, (int, int, ...))                                                                 \
    X(lockf, int, (int, int, off_t))                                                               \
    X(flockfile, void, (FILE *))                                                                   \
    X(ftrylockfile, int, (FILE *))                                                                 \
    X(funlockfile, void, (FILE *))                                                                 \
    X(vfprintf, int, (FILE *, const char *, va_list))                                              \
    X(__vfprintf_chk, int, (FILE *, int, const char *, va_list))                                   \
    X(fputs, int, (const char *, FILE *))                                                          \
    X(puts, int, (const char *))                                                                   \
    X(fwrite, size_t, (const void *, size_t, size_t, FILE *))                                      \
    X(fputc, int, (int, FILE *))                                                                   \
    X(fflush, int, (FILE *))                                                                       \
    X(fgets, char *, (char *, int, FILE *))                                                        \
    X(__fgets_chk, char *, (char *, size_t, int, FILE *))                                          \
    X(fread, size_t, (void *, size_t, size_t, FILE *))                                             \
    X(__fread_chk, size_t, (void *, size_t, size_t, size_t, FILE *))                               \
    X(fgetc, int, (FILE *))                                                                        \
    X(getdelim, ssize_t, (char **, size_t *, int, FILE *))                                         \
    X(read, ssize_t, (int, void *, size_t))                                                        \
    X(__read_chk, ssize_t, (int, void *, size_t, size_t))                                          \
    X(write, ssize_t, (int, const void *, size_t))                                                 \
    X(pread, ssize_t, (int, void *, size_t, off_t))                                                \
    X(__pread_chk, ssize_t, (int, void *, size_t, off_t, size_t))                                  \
    X(pwrite, ssize_t, (int, const void *, size_t, off_t))                                         \
    X(readv, ssize_t, (int, const struct iovec *, int))                                            \
    X(writev, ssize_t, (int, const struct iovec *, int))                                           \
    X(preadv, ssize_t, (int, const struct iovec *, int, off_t))                                    \
    X(pwritev, ssize_t, (int, const struct iovec *, int, off_t))                                   \
    X(preadv2, ssize_t, (int, const struct iovec *, int, off_t, int))                              \
    X(pwritev2, ssize_t, (int, const struct iovec *, int, off_t, int))                             \
    X(sendfile, ssize_t, (int, int, off_t *, size_t))                                              \
    X(fsync, int, (int))                                                                           \
    X(fdatasync, int, (int))                                                                       \
    X(open, int, (const char *, int, ...))                                                         \
    X(__open_2, int, (const char *, int))                                                          \
    X(openat, int, (int, const char *, int, ...))                                                  \
    X(__openat_2, int, (int, const char *, int))                                                   \
    X(creat, int, (const char *, mode_t))                                                          \
    X(close, int, (int))                                                                           \
    X(dup2, int, (int, int))                                                                       \
    X(dup3, int, (int, int, int))                                                                  \
    X(pipe2, int, (int[2], int))                                                                   \
    X(socket, int, (int, int, int))                                                                \
    X(socketpair, int, (int, int, int, int[2]))                                                    \
    X(eventfd, int, (unsigned, int))                                                               \
    X(poll, int, (struct pollfd *, nfds_t, int))                                                   \
    X(__poll_chk, int, (struct pollfd *, nfds_t, int, size_t))                                     \
    X(ppoll, int, (struct pollfd *, nfds_t, const struct timespec *, const sigset_t *))            \
    X(__ppoll_chk, int,                                                                            \
      (struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t))                \
    X(select, int, (int, fd_set *, fd_set *, fd_set *, struct timeval *))                          \
    X(pselect, int,                                                                                \
      (int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *))              \
    X(epoll_wait, int, (int, struct epoll_event *, int, int))                                      \
    X(epoll_pwait, int, (int, struct epoll_event *, int, int, const sigset_t *))                   \
    X(epoll_pwait2, int,                                                                           \
      (int, struct epoll_event *, int, const struct timespec *, const sigset_t *))                 \
    X(send, ssize_t, (int, const void *, size_t, int))                                             \
    X(sendto, ssize_t, (int, const void *, size_t, int, const struct sockaddr *, socklen_t))       \
    X(sendmsg, ssize_t, (int, const struct msghdr *, int))                                         \
    X(sendmmsg, int, (int, struct mmsghdr *, unsigned, int))                                       \
    X(recv, ssize_t, (int, void *, size_t, int))                                                   \
    X(__recv_chk, ssize_t, (int, void *, size_t, size_t, int))                                     \
    X(recvfrom, ssize_t, (int, void *, size_t, int, struct sockaddr *, socklen_t *))               \
    X(__recvfrom_chk, ssize_t, (int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *)) \
    X(recvmsg, ssize_t, (int, struct msghdr *, int))                                               \
    X(recvmmsg, int, (int, struct mmsghdr *, unsigned, int, struct timespec *))                    \
    X(accept, int, (int, struct sockaddr *, socklen_t *))                                          \
    X(accept4, int, (int, struct sockaddr *, socklen_t *, int))                                    \
    X(connect, int, (int, const struct sockaddr *, socklen_t))                                     \
    X(mq_send, int, (mqd_t, const char *, size_t, unsigned))                                       \
    X(mq_timedsend, int, (mqd_t, const char *, size_t, unsigned, const struct timespec *))         \
    X(mq_receive, ssize_t, (mqd_t, char *, size_t, unsigned *))                                    \
    X(mq_timedreceive, ssize_t, (mqd_t, char *, size_t, unsigned *, const struct timespec *))      \
    X(mq_close, int, (mqd_t))                                                                      \
    X(msgsnd, int, (int, const void *, size_t, int))                                               \
    X(msgrcv, ssize_t, (int, void *, size_t, long, int))                                           \
    X(semop, int, (int, struct sembuf *, size_t))                                                  \
    X(semtimedop, int, (int, struct sembuf *, size_t, const struct timespec *))                    \
    X(nanosleep, int, (const struct timespec *, struct timespec *))                                \
    X(clock_nanosleep, int, (clockid_t, int, const struct timespec *, struct timespec *))          \
    X(usleep, int, (useconds_t))                                                                   \
    X(sleep, unsigned, (unsigned))                                                                 \
    X(waitpid, pid_t, (pid_t, int *, int))                                                         \
    X(wait, pid_t, (int *))                                                                        \
    X(wait3, pid_t, (int *, int, struct rusage *))                                                 \
    X(wait4, pid_t, (pid_t, int *, int, struct rusage *))                                          \
    X(waitid, int, (idtype_t, id_t, siginfo_t *, int))                                             \
    X(sigwait, int, (const sigset_t *, int *))                                                     \
    X(sigwaitinfo, int, (const sigset_t *, siginfo_t *))                                           \
    X(sigtimedwait, int, (const sigset_t *, siginfo_t *, const struct timespec *))                 \
    X(sigsuspend, int, (const sigset_t *))                                                         \
    X(pause, int, (void))                                                                          \
    X(pthread_once, int, (pthread_once_t *, void (*)(void)))                                       \
    X(sched_yield, int, (void))                                                                    \
    X(_exit, void, (int))                                                                          \
    X(_Exit, void, (int))                                                                          \
    X(clone, int, (int (*)(void *), void *, int, void *, ...))                                     \
    X(_Fork, pid_t, (void))                                                                        \
    X(execve, int, (const char *, char *const *, char *const *))                                   \
    X(execvpe, int, (const char *, char *const *, char *const *))                                  \
    X(fexecve, int, (int, char *const *, char *const *))                                           \
    X(execveat, int, (int, const char *, char *const *, char *const *, int))                       \
    X(posix_spawn, int,                                                                            \
      (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,       \
       char *const *, char *const *))                                                              \
    X(posix_spawnp, int,                                                                           \
      (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,       \
       char *const *, char *const *))                                                              \
    X(system, int, (const char *))                                                                 \
    X(popen, FILE *, (const char *, const char *))                                                 \
    X(malloc, void *, (size_t))                                                                    \
    X(calloc, void *, (size_t, size_t))                                                            \
    X(realloc, void *, (void *, size_t))                                                           \
    X(free, void, (void *))                                                                        \
    X(posix_memalign, int, (void **, size_t, size_t))                                              \
    X(aligned_alloc, void *, (size_t, size_t))                                                     \
    X(memalign, void *, (size_t, size_t))                                                          \
    X(valloc, void *, (size_t))                                                                    \
    X(pvalloc, void *, (size_t))

struct real {
#define REAL_MEMBER(name, result, parameters) result(*name) parameters;
    REAL_FUNCTIONS(REAL_MEMBER)
#undef REAL_MEMBER
};
extern struct real heurt_real __attribute__((visibility("hidden")));

/* Fills heurt_real. Calls dlsym; may be called again and from a call that comes before any
 * constructor. */
void real__find(void);

/* The function of that name which the module at site sees, where nobody else does; NULL. */
void *real__of_module(const char *name, const void *site);

/* The real function, also before the constructor has run. */
#define REAL(name) (heurt_real.name ? heurt_real.name : (real__find(), heurt_real.name))

#endif
