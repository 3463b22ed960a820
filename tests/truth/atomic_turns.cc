// Two players take turns by std::atomic::wait, though no move depends on the other's.
// TRUTH: condition|latch|barrier|semaphore; place=play|Table|main; object=turn|.
// Fixed: each plays its own moves.
#include "truth.h"

#include <atomic>
#include <thread>
#include <vector>

struct Table {
    std::atomic<int> turn{0};
    bool free_play;
    void play(int me, uint64_t *score)
    {
        for (int i = 0; i < 6000; i++) {
            for (int now = turn.load(); !free_play && now != me; now = turn.load())
                turn.wait(now);
            *score = mix(*score, 20000);
            if (!free_play) {
                turn.store(1 - me);
                turn.notify_one();
            }
        }
    }
};

int main(int argc, char **argv)
{
    Table table;
    table.free_play = is_fixed(argc, argv);
    uint64_t scores[2][8] = {{1}, {2}};
    std::vector<std::thread> players;
    for (int i = 0; i < 2; i++)
        players.emplace_back(&Table::play, &table, i, scores[i]);
    for (auto &player : players)
        player.join();
    printf("%lx\n", (unsigned long)(scores[0][0] + scores[1][0]));
}
