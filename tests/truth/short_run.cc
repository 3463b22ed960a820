// A run of 20 ms: words of a text are counted into one map under one mutex.
// TRUTH: lock; place=count|operator; object=mutex|words
// Fixed: a map for each thread, joined at the end.
#include "truth.h"

#include <map>
#include <mutex>
#include <thread>
#include <vector>

static void count(std::mutex &mutex, std::map<uint64_t, int> &words, uint64_t from)
{
    for (uint64_t i = from; i < from + 20000; i++) {
        std::lock_guard<std::mutex> guard(mutex);
        words[mix(i, 200) % 3000]++;
    }
}

int main(int argc, char **argv)
{
    std::mutex mutexes[2];
    std::map<uint64_t, int> words[2];
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++) {
        int mine = is_fixed(argc, argv) ? i : 0;
        threads.emplace_back(count, std::ref(mutexes[mine]), std::ref(words[mine]), i * 5000);
    }
    for (auto &thread : threads)
        thread.join();
    for (auto &[word, times] : words[1])
        words[0][word] += times;
    printf("%zu\n", words[0].size());
}
