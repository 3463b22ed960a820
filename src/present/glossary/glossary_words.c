/* The words, in the order in which a reader meets them. */
#include "present/glossary/glossary.h"

#define WORD(word) .name = word, .category = GLOSSARY_NO_CATEGORY
#define OF(word, of) .name = word, .category = of

const struct glossary_word glossary_words[] = {
    /* ---- what threads do --------------------------------------------------------------------- */
    {WORD("working"), .also = "running|work|working or not known|used",
     .meaning = "A thread is on a CPU, and waits for nobody. Who spins, or shares a cache line, "
                "looks as if it worked.",
     .measured = "What is left of a thread's life when all waits that were recorded, and all times "
                 "off the CPU that the kernel recorded, are taken off. It is compared with the CPU "
                 "time that the system counted.",
     .doubt = "Without the kernel's records (heurt check tells why) waits that no recorded call "
              "tells count as working: \"working or not known\".",
     .example = "working 24 %   wanted a CPU, had none 55 %   waiting for a lock 20 %"},
    {WORD("waiting"), .also = "wait|waits|waited|blocked|contended",
     .meaning = "A thread goes on only when something has happened: a lock was given back, an "
                "answer came, a disk was done.",
     .measured = "Each call that may wait (locks, conditions, barriers, semaphores, input and "
                 "output, sleep) is recorded with its beginning and its end; the kernel tells when "
                 "the thread was off the CPU.",
     .doubt = "What the kernel tells of a thread that was in no recorded call is \"other waits\": "
              "nobody knows for what.",
     .example = "Blocked 83 of 16,000 times (1 %), 7.1 ms each, up to 28 ms."},
    {WORD("idle"), .also = "waiting for work|left out",
     .meaning = "A thread waits for work to come from outside. That is not lost: such threads are "
                "named and left out of the bars.",
     .measured = "Waits for events, for time and for the end of a thread; and waits at a condition "
                 "or a semaphore that threads with another role end. A hand-over between the "
                 "program's own threads is not idle.",
     .doubt =
         "A run with --aggregate keeps no roles: its conditions and semaphores are never idle.",
     .example = "Left out, they waited: main (for the end of others)."},
    {OF("wanted a CPU", FINDING_CPU), .also = "runnable|preempted|wanted a CPU, had none|had none",
     .meaning = "A thread could have worked, and all CPUs were busy. Other threads of the program "
                "had them, or other programs.",
     .measured = "The kernel's records of when a thread was switched off while it could go on, or "
                 "was woken and did not run yet; and the system's own count of that time.",
     .doubt =
         "Without the kernel's records it is not known. In a virtual machine the host may take "
         "CPUs away, which looks like work.",
     .example = "2   ~162 ms   44 %  1.7–1.8×     wanted a CPU, had none"},

    /* ---- figures ----------------------------------------------------------------------------- */
    {WORD("lost"), .also = "loss|excess|share",
     .meaning = "The time that threads would have had, had nobody been in their way. Lost time of "
                "threads is not lost time of the run: gain tells that.",
     .measured = "For each class of calls that ought to take the same time: what all took longer "
                 "than the shortest. Share is the part of the time of the threads that had work.",
     .doubt =
         "With few occurrences the shortest may have been disturbed, too: more is lost than is "
         "shown. ~ stands for an estimate, ? for a weak one.",
     .example = "1   29.6 ms    8 %  1.1×         lock queue->head_lock in 2 places"},
    {WORD("gain"), .also = "wall gain|faster",
     .meaning = "How much faster the whole run would be without that loss: the wall time now over "
                "the wall time then. 1.4–1.7×: at least and at most.",
     .measured =
         "The run is replayed on a model of its CPUs, by who waited for whom, with the loss "
         "taken out. none: others are waited for anyway. ≤: perhaps nothing. ?: not known.",
     .doubt =
         "~ in front: it hangs on something that the recording does not show. Caches and memory "
         "are not in the model. Of a long run windows are replayed.",
     .example = "1   593 ms   51 %  1.4–1.7×     lock queue->head_lock in 2 places",
     .try = "heurt whatif asks other questions: a lock split, a function faster, more threads"},
    {WORD("score"), .also = "threshold",
     .meaning =
         "The lost time of a class over the life of the thread that loses most, from 0 to 1. "
         "From 0.2 on it is worth a look.",
     .measured = "The sum over all occurrences of duration less the shortest duration, over the "
                 "life of the thread (RDAM, SCI and dispersion factor are this figure).",
     .doubt =
         "Occurrences that were drawn at random (~), fewer than 100 of them, or a machine that "
         "changed its speed.",
     .example = "1  0.94   64.9 ms  2.3–3.8×   handle  server.c:43"},
    {WORD("confidence"), .also = "estimated|weak|measured|doubts",
     .meaning = "How far a figure can be trusted. Nothing stands where it was measured; ~ is an "
                "estimate, ? is weak.",
     .measured =
         "~: occurrences were drawn at random, or a model was asked. ?: few occurrences, all "
         "of them disturbed, or records were lost. heurt report N tells the reason.",
     .example = "2   ~162 ms   44 %  1.7–1.8×     wanted a CPU, had none",
     .try = "a longer run; heurt record --overhead none; heurt check, which tells what is missing"},
    {WORD("cost"), .also = "recording cost|overhead|recording|sampled|drawn",
     .meaning = "What recording itself took of the program's CPU time.",
     .measured = "Before the program starts heurt measures what each kind of event costs on this "
                 "machine; the cost is that times the number of events.",
     .doubt =
         "Caches that the recording used up, and call stacks, are not in it. Of a run of a few "
         "ms it cannot be told.",
     .example = "queue --threads 4   took 329 ms on 2 CPUs, used 1.9   [recording cost 0.9 %]",
     .try =
         "heurt record --overhead 1% records fewer occurrences; --no-choice records no functions"},

    /* ---- how a run hangs together ------------------------------------------------------------ */
    {WORD("holder"), .also = "holders|blocker|because of",
     .meaning = "Who had the lock while others waited for it, and where it had taken it.",
     .measured = "Each wait is divided among all that had the lock meanwhile, by time; what the "
                 "holder did then (worked, had no CPU, waited itself) is told from its own record.",
     .doubt = "Nobody had it: who was next in line had been woken, and had no CPU yet.",
     .example =
         "306 ms  in queue__append queue.c:44 · holder: queue__append 64 %, queue__take 36 %"},
    {WORD("critical path"), .also = "path|on path",
     .meaning = "The chain of work and waits from the start to the end of a run that decides how "
                "long it takes. Shortening what is not on it gains nothing.",
     .measured = "One walk over all synchronisation events by time: whoever ended a wait hands the "
                 "chain on.",
     .doubt =
         "Where a thread was off the CPU and nobody of the program ended that, the chain stays "
         "with this thread, and the part is told.",
     .example = "Critical path: 28 % of its 127 ms is in sections of locks",
     .try = "heurt locks --path shows it piece by piece"},
    {WORD("efficiency"), .also = "times as fast|speed-up|speedup|scaling|scales",
     .meaning = "What part of what its threads could do a program gets done: with twice as many it "
                "would take half the time, were it 1.",
     .measured =
         "heurt scale: the median time with the fewest threads over that with more, divided "
         "by how many times as many they are. Times are of runs that are not recorded.",
     .doubt =
         "More threads than CPUs have no efficiency: that is another thing than scaling. Where "
         "the CPU time grows, it is not the same work.",
     .example = "efficiency   100 %   89 %   73 %   53 %",
     .try =
         "heurt scale names the part of the program that costs most with twice as many threads."},
    {WORD("scaling law"),
     .also = "law|sigma|kappa|amdahl|amdahl's law|universal scalability law|limits",
     .meaning =
         "How times fall with the number of threads: sigma is the share that does not divide "
         "among them (Amdahl's law), kappa what each pair of threads adds (the Universal "
         "Scalability Law).",
     .measured =
         "heurt scale: least squares over all runs, for the whole and for each part; intervals "
         "are from what equal runs differ by. There is none where these differ too much, or "
         "where no law comes near all counts.",
     .doubt = "Two counts always fit Amdahl's law, three the universal one: that does not test it "
              "(~).",
     .example = "12 % (10-14) of it does not divide among threads (Amdahl's law)"},
    {WORD("work inflation"), .also = "inflation|inflated|omega|CPU time",
     .meaning = "The same work takes more CPU time on more CPUs: they share caches and memory.",
     .measured =
         "heurt scale --cores: the CPU time of runs that are not recorded, over that on one "
         "CPU, less 1.",
     .doubt = "Threads that spin, or do other work, look the same: where that is seen, it is not "
              "told.",
     .example = "8   4   8.64 s   +5.9 %   2.91   2.75   +0.16"},
    {WORD("iteration"), .also = "iterations|loop|loops",
     .meaning =
         "One turn through a loop of the program: what is done again and again, and ought to "
         "take the same time.",
     .measured = "Loops are found in the sequence of recorded calls, or marked in busy functions "
                 "that are entered once; the user's own marks (heurt.h) count first.",
     .doubt = "A loop without recorded calls inside is seen only where its function was chosen.",
     .example = "4 threads run this loop: 50 iterations of 7.63 ms",
     .try = "heurt report iteration --compare puts a slow one beside a fast one"},
    {WORD("sharing"), .also = "cache line|memory",
     .meaning =
         "Threads on several CPUs use one cache line, and at least one writes it: each has to "
         "fetch it from the other. See false sharing, true sharing.",
     .measured =
         "Samples of busy threads: the instruction, and the address that it waited for. The "
         "cost is the pace while others are at the line against the pace while they are not.",
     .doubt =
         "Few samples at the line; a program that was not sampled is told in \"Not looked at\".",
     .example = "Looked at: locks, waits, input and output, page faults, sharing of cache lines"},
    {WORD("node"), .also = "NUMA|NUMA node|local|remote|remote memory|placement|touched first",
     .meaning =
         "A part of the machine: some CPUs, and the memory that is near to them. Memory of the "
         "thread's own node is local, that of others remote. A page lies where it was touched "
         "first, unless the program says otherwise.",
     .measured =
         "Samples tell the CPU and the address, the kernel which node has the page. Shares are "
         "of the time of samples at memory, not of accesses.",
     .doubt =
         "The kernel is asked up to 0.1 s later. Caches answer most accesses, wherever the memory "
         "is: how much remote time costs is not known without counters of the processor.",
     .example = "all on node 0, used from 4 nodes"},

    /* ---- what findings are ------------------------------------------------------------------- */
    {OF("lock", FINDING_LOCK), .also = "mutex|locks|waiting for a lock|pressure|acquired|held",
     .meaning = "Threads wait for a lock that another one has: a mutex, a reader-writer lock or a "
                "spin lock.",
     .measured =
         "Each call that takes a lock is tried without waiting first; only when the lock is "
         "taken, the wait is recorded, until the thread has it.",
     .doubt = "Locks that nobody waits for are drawn at random where they are many; waits never.",
     .example = "One lock holds 4 threads back. Without that: about 114 ms (1.1× faster)."},
    {OF("condition", FINDING_CONDITION),
     .also = "condition variable|signalled|waiting at a condition|to wake|for nobody",
     .meaning =
         "Threads wait at a condition for each other: a queue is empty or full, a turn is not "
         "theirs.",
     .measured = "The waits are recorded, and who signalled. A wait for work from outside is idle, "
                 "and no finding.",
     .doubt = "Locks and queues that a program makes of futexes are told as conditions.",
     .example = "1   2.10 s   38 %  1.5–1.6×     condition queue->not_empty in pop queue.c:61"},
    {OF("barrier", FINDING_BARRIER), .also = "barriers|waiting at a barrier|spread",
     .meaning = "Threads wait at a barrier until the last one has arrived.",
     .measured = "The waits are recorded; the last to arrive, and what it did before, is told.",
     .example = "Threads wait at a barrier for the last one to arrive, mostly because of relax."},
    {OF("latch", FINDING_LATCH), .also = "once|std::latch",
     .meaning = "Threads wait until something is made once, or a counter is down.",
     .measured = "pthread_once, guards of static variables in C++ and std::latch, by their waits.",
     .example = "Threads wait at a latch for a late one."},
    {OF("semaphore", FINDING_SEMAPHORE), .also = "semaphores",
     .meaning = "Threads wait until another one posts a semaphore.",
     .measured = "sem_wait and its like are recorded, and who posted. A wait for work from outside "
                 "is idle.",
     .example = "1   840 ms   21 %  1.2×         semaphore slots in worker pool.c:40"},
    {OF("join", FINDING_JOIN), .also = "one after another|waitpid",
     .meaning = "A thread waits for another one to end; or threads, or processes, run one after "
                "another.",
     .measured = "The calls that wait for an end, and which threads and processes lived then.",
     .example = "Threads are started and waited for one after another."},
    {OF("spinning", FINDING_SPINNING), .also = "spin|busy waiting",
     .meaning = "A thread asks in a loop whether it may go on, and uses a CPU for it. top and perf "
                "show it as busy.",
     .measured = "Samples in functions that runtimes spin in, known by their names; and functions "
                 "that take longer while another thread has what they ask for.",
     .doubt = "It must explain more than the same data, shifted by chance, would.",
     .example = "Threads spin while another one has what they wait for."},
    {OF("yield", FINDING_YIELD), .also = "sched_yield|yielding",
     .meaning = "A thread gives its CPU away in a loop until another one is done.",
     .measured = "Calls of sched_yield in a row are one wait.",
     .example = "Threads yield in a loop until another one is done."},
    {OF("polling", FINDING_POLLING), .also = "poll|yielding or asking|asking|sleeping",
     .meaning = "A thread asks again and again whether something has come, and sleeps in between.",
     .measured = "Sleeps, and polls that end without anything, which follow one another.",
     .example = "Threads ask again and again whether something has come."},
    {OF("disk", FINDING_DISK), .also = "I/O|fsync|file|waiting for the disk",
     .meaning = "Threads wait for reads, writes or syncs of files.",
     .measured =
         "The calls are recorded with their sizes; the kernel tells when the thread was off "
         "the CPU in them.",
     .example = "1   1.49 s   62 %  2.4×         disk in append log.c:88"},
    {OF("file lock", FINDING_FILE_LOCK), .also = "flock|fcntl",
     .meaning = "Processes wait for a lock on a file.",
     .measured = "flock, lockf and fcntl are recorded when they wait.",
     .example = "Processes wait for a file lock."},
    {OF("stdio", FINDING_STDIO), .also = "FILE|printf",
     .meaning = "Threads print to, or read from, one FILE, which has a lock of its own.",
     .measured = "flockfile, and waits inside of printf and its like, by their call stacks.",
     .example = "Threads wait for the lock of a FILE that they share."},
    {OF("allocator", FINDING_ALLOCATOR), .also = "malloc|free",
     .meaning = "Threads wait for each other inside of malloc and free.",
     .measured = "Waits in the C library whose call stacks lead through the allocator.",
     .example = "Threads wait for the allocator's lock."},
    {OF("network", FINDING_NETWORK), .also = "socket|sockets|waiting for the network",
     .meaning = "Threads wait for an answer over a socket.",
     .measured = "The calls at sockets are recorded. A wait for requests from outside is idle. "
                 "Where most waits take the 40 ms for which Linux delays an acknowledgement, "
                 "that is said.",
     .example = "Threads wait for an answer over a socket."},
    {OF("pipe", FINDING_PIPE), .also = "pipes|queue|message queue|eventfd",
     .meaning = "Threads wait for the other end of a pipe, an eventfd, or a queue of messages of "
                "the system.",
     .measured = "Reads and writes are recorded, and how many bytes are in the pipe or queue.",
     .example = "Threads wait for the other end of a pipe."},
    {OF("message", FINDING_MESSAGE), .also = "messages|MPI|waiting for a message",
     .meaning =
         "Ranks of an MPI program wait for each other's messages, or in collective operations.",
     .measured = "Each call of Open MPI and MPICH is recorded, and what it sends and awaits.",
     .doubt = "heurt mpi tells waiting for others from what passing messages takes.",
     .example = "Ranks wait for a message."},
    {OF("page fault", FINDING_PAGE_FAULT), .also = "page faults|pages",
     .meaning = "Threads touch memory that has no page yet, and the kernel has to find one.",
     .measured = "The kernel's records of each page fault, and how long some of them took.",
     .doubt = "It is compared with the system's count of faults and of time in the kernel.",
     .example = "page faults at memory that it had touched before"},
    {OF("memory map", FINDING_MEMORY_MAP), .also = "mmap|munmap|mmap_lock",
     .meaning = "Threads of a process change which memory it has, and only one can at a time.",
     .measured = "mmap, munmap, mprotect and their like are recorded.",
     .example = "Threads wait for the process's memory map."},
    {OF("false sharing", FINDING_FALSE_SHARING), .also = "false",
     .meaning = "Threads write different variables that lie on one cache line.",
     .measured = "As sharing: samples whose addresses lie on one line, and do not overlap.",
     .doubt = "Few samples at the line.",
     .example = "Threads write different variables on one cache line, while work writes sums[1]."},
    {OF("true sharing", FINDING_TRUE_SHARING), .also = "true",
     .meaning = "Threads write the same variable by turns.",
     .measured = "As sharing: samples at the same bytes of a line.",
     .doubt = "Few samples at the line.",
     .example = "Threads write the same variable by turns, while count writes the same."},
    {OF("retry", FINDING_RETRY), .also = "compare-and-swap|cas|retries",
     .meaning = "Threads compute a new value from an old one, and put it in its place by "
                "compare-and-swap. Who finds another value there by then computes it anew.",
     .measured =
         "Samples in loops which a failed compare-and-swap repeats, as the code tells. While "
         "several threads are in one at a time, one of them gets something done.",
     .doubt = "How often it failed is not counted. What functions take that the loop calls is not "
              "seen.",
     .example = "Threads compute anew when another one was faster, in transact."},
    {OF("remote memory", FINDING_REMOTE_MEMORY), .also = "remote|numa|node",
     .meaning = "Threads use memory that lies at another NUMA node than they run on.",
     .measured =
         "Samples at memory with the nodes of thread and page. What an access costs there is "
         "compared with the same instruction at memory of its own node.",
     .doubt = "An instruction that is never at its own node has nothing to be compared with: then "
              "the distances between nodes bound what is lost.",
     .example = "Threads use memory of other NUMA nodes, all on node 0, used from 4 nodes."},
    {OF("imbalance", FINDING_IMBALANCE), .also = "balance|balanced|late",
     .meaning = "One thread still works when the others have nothing left to do.",
     .measured = "From the ends of the threads that had work, or where they last waited for some: "
                 "how long all but the last one were done.",
     .example = "One thread works on while the others are done."},
    {WORD("serial code"), .also = "serial|between parallel regions",
     .meaning = "One thread of an OpenMP program works alone between parallel regions, and those "
                "of its team wait for the next one. In data it is an imbalance.",
     .measured = "Samples of threads that call regions, taken between the begin of their first "
                 "region and the end of their last one, in none. The gain is that of work which "
                 "all CPUs share that other callers of regions leave.",
     .doubt = "Whether the work can be divided nobody knows but you.",
     .example = "1     ~300 ms   22 %  1.3–1.4×     serial code in smooth omp_cg.c:21",
     .try = "divide that work among the threads, too"},
    {WORD("dealing out iterations"), .also = "dealing out|schedule|chunk|chunks",
     .meaning = "Threads fetch so few iterations of a loop at a time that they get in each "
                "other's way at the counter of these. In data it is true sharing.",
     .measured = "The loop's chunks are counted and their sizes told. What is lost is the larger "
                 "of two: what samples tell of the counter's cache line, and the CPU time of "
                 "OpenMP's runtime.",
     .doubt = "What a compiler makes better of a loop over many iterations is not known.",
     .example = "Threads come for so few iterations at a time that they wait for the counter of "
                "these.",
     .try = "schedule(dynamic, n) with a larger n"},
    {OF("creation", FINDING_CREATION), .also = "making threads",
     .meaning = "The program makes and ends threads all the time, for little work each.",
     .measured = "The starts and ends of all threads, and what each did in between.",
     .example = "Threads are made and ended all the time."},
    {OF("task", FINDING_TASK), .also = "tasks|taskwait|OpenMP task",
     .meaning = "The runtime of OpenMP makes tasks and hands them out of one list for all threads "
                "of a team, and threads wait until tasks are done.",
     .measured =
         "What calls that make tasks took, and waits in which a thread had none to run: for "
         "tasks, at barriers and at the region's end. Where the calls are not seen, samples "
         "inside of the runtime, and its waits.",
     .doubt = "Which tasks could run side by side is not known where they depend on each other.",
     .example = "Threads have no task to run while others do the last ones that are waited for."},
    {OF("parallel region", FINDING_REGION), .also = "parallel regions|region|regions",
     .meaning = "Regions of OpenMP have so little to do that much of the time goes into having "
                "their threads begin and end.",
     .measured =
         "Of who calls a region, the time from the call until it begins itself, and from its "
         "own end until it may go on (libgomp).",
     .doubt = "Where a region is short, waiting for a late thread at its end is counted, too.",
     .example = "1   3.20 s   41 %  1.6–1.8×     starting and ending parallel regions in relax"},
    {OF("signal", FINDING_SIGNAL), .also = "signals|handler",
     .meaning = "A handler of signals interrupts threads at their work.",
     .measured = "Call stacks in which the kernel's return from a handler stands.",
     .example = "A handler of signals interrupts the threads' work."},
    {OF("overlap", FINDING_OVERLAP), .also = "others at work|interference",
     .meaning = "Code takes longer while another thread runs, and no wait tells why: they share "
                "caches, memory, or a core.",
     .measured = "Single occurrences, each with what ran on other CPUs meanwhile. It must explain "
                 "more than timelines that were shifted by chance.",
     .doubt = "Too few occurrences with and without the other; a machine that changed its speed.",
     .example = "Code is slower while another thread runs."},
    {OF("unexplained", FINDING_UNEXPLAINED),
     .also = "unknown|other|other waits|waits of unknown cause",
     .meaning = "Threads wait, or take longer, and nothing that was recorded tells why.",
     .measured = "What is left when all that is known is taken off. It is never hidden.",
     .example = "1   310 ms   17 %  ?            waits of unknown cause in step main.c:12"},
    {0},
};
