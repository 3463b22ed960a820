#!/usr/bin/env bats
# Queues of messages and System V's semaphores: what waits for them, and that calls answer as ever.
load ../helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    cat >ipc.c <<'C'
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <unistd.h>
enum { ROUNDS = 20 };
struct message {
    long type;
    char text[24];
};
static int set, queues[2];
static mqd_t answers;
static int change(int by, int flags)
{
    struct sembuf operation = {1, (short)by, (short)flags};
    return semop(set, &operation, 1);
}
/* Waits each time: the first thread has it until this one does. */
static void *take(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct message message;
        msgrcv(queues[0], &message, sizeof message.text, 0, 0);
        change(-1, 0);
        change(1, 0);
        mq_send(answers, "done", 5, 0);
    }
    return unused;
}
int main(void)
{
    char name[32], text[64];
    struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = sizeof text};
    struct message message = {1, "go"};
    pthread_t thread;
    set = semget(IPC_PRIVATE, 2, 0600 | IPC_CREAT);
    semctl(set, 1, SETVAL, 1);
    for (int i = 0; i < 2; i++)
        queues[i] = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
    snprintf(name, sizeof name, "/ipc-%d", (int)getpid());
    answers = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
    mq_unlink(name);
    pthread_create(&thread, NULL, take, NULL);
    int bytes = 0;
    for (int i = 0; i < ROUNDS; i++) {
        change(-1, 0);
        msgsnd(queues[0], &message, 8, 0);
        while (semctl(set, 1, GETNCNT) != 1)
            sched_yield();
        change(1, 0);
        bytes += (int)mq_receive(answers, text, sizeof text, NULL);
    }
    pthread_join(thread, NULL);
    printf("received %d\n", bytes);
    /* What is refused. */
    change(-1, 0);
    printf("taken %d %d\n", change(-1, IPC_NOWAIT), errno);
    struct timespec soon = {0, 1000000};
    struct sembuf operation = {1, -1, 0};
    printf("late %d %d\n", semtimedop(set, &operation, 1, &soon), errno);
    printf("empty %d %d\n", (int)msgrcv(queues[1], &message, 8, 0, IPC_NOWAIT), errno);
    printf("no queue %d %d\n", msgsnd(-1, &message, 8, 0), errno);
    printf("no set %d %d\n", (set = -1, change(1, 0)), errno);
    printf("closed %d ", mq_close(answers));
    printf("%d %d\n", (int)mq_receive(answers, text, sizeof text, NULL), errno);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        msgrcv(queues[1], &message, 8, 0, 0);
        _exit(message.text[0] == 'g' ? 0 : 1);
    }
    message = (struct message){1, "go"};
    msgsnd(queues[1], &message, 8, 0);
    int status;
    waitpid(child, &status, 0);
    printf("child %d\n", status);
    for (int i = 0; i < 2; i++)
        msgctl(queues[i], IPC_RMID, NULL);
    return 0;
}
C
    "$CC" -O1 -g -Wno-unused-result -o ipc ipc.c -pthread -lrt
    ./ipc >alone
    "$HEURT" record --quiet --overhead none -o t ./ipc >out </dev/null
    "$HEURT" locks -i t --json >locks.json
    "$HEURT" dump -i t >dump
}

setup() {
    cd "$BATS_FILE_TMPDIR" || return 1
}

@test "calls answer as without heurt" {
    diff alone out
    grep -q 'received 100' out
}

@test "a semaphore of System V is told as taken, waited for and posted" {
    local waited row='locks[rank=1]'
    [ "$("$JSON_GET" locks.json "$row.kind")" = semaphore ]
    waited=$("$JSON_GET" locks.json "$row.exclusive.contended")
    [ "$waited" = 20 ] || fail "waited for $waited times"
    # 20 times by each, once more, and that it was refused is none.
    [ "$("$JSON_GET" locks.json "$row.exclusive.acquisitions")" = 41 ]
    [ "$("$JSON_GET" locks.json "$row.exclusive.gave_up")" = 1 ]
    [ "$("$JSON_GET" locks.json "$row.signals")" = 40 ]
    [[ "$("$JSON_GET" locks.json "$row.name")" == '1 of set '* ]] || fail "$("$JSON_GET" locks.json "$row")"
}

@test "messages are told with their bytes, and who sent what was waited for" {
    [ "$(grep -c 'enter msgsnd .*queue=[0-9]* pipe size=8' dump)" = 21 ] || fail "$(grep msg dump | tail)"
    [ "$(grep -c 'leave msgrcv result=8' dump)" = 21 ]
    [ "$(grep -c 'leave mq_send result=5' dump)" = 20 ]
    [ "$(grep -c 'leave mq_receive result=5' dump)" = 20 ]
    "$HEURT" report -i t --json >report.json
    "$JSON_GET" report.json 'classes[function=mq_receive].kind' | grep -qx pipe
    "$JSON_GET" report.json 'classes[function=msgrcv].kind' | grep -qx pipe
}
