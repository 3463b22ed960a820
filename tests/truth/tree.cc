// Trees are built by recursion; their nodes come from one pool behind a mutex.
// TRUTH: lock; place=NodePool::(make|drop)|build|clear; object=NodePool|mutex|pool
// Fixed: a pool for each thread.
#include "truth.h"

#include <mutex>
#include <thread>
#include <vector>

struct Node {
    Node *left, *right;
    uint64_t key;
};

class alignas(64) NodePool
{
    std::mutex mutex;
    std::vector<Node *> unused;

  public:
    Node *make(uint64_t key)
    {
        std::lock_guard<std::mutex> guard(mutex);
        if (unused.empty()) {
            Node *block = new Node[256];
            for (int i = 0; i < 256; i++)
                unused.push_back(&block[i]);
        }
        Node *node = unused.back();
        unused.pop_back();
        *node = {nullptr, nullptr, mix(key, 40)};
        return node;
    }
    void drop(Node *node)
    {
        std::lock_guard<std::mutex> guard(mutex);
        unused.push_back(node);
    }
};

static Node *build(NodePool &pool, uint64_t key, int depth)
{
    Node *node = pool.make(key);
    if (depth > 0) {
        node->left = build(pool, key * 2, depth - 1);
        node->right = build(pool, key * 2 + 1, depth - 1);
    }
    return node;
}

static uint64_t clear(NodePool &pool, Node *node)
{
    if (!node)
        return 0;
    uint64_t sum = clear(pool, node->left) + clear(pool, node->right) + node->key;
    pool.drop(node);
    return sum;
}

int main(int argc, char **argv)
{
    NodePool pools[2];
    uint64_t sums[2] = {};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; t++)
        threads.emplace_back([&, t] {
            NodePool &pool = pools[is_fixed(argc, argv) ? t : 0];
            for (int i = 0; i < 60; i++)
                sums[t] += clear(pool, build(pool, (uint64_t)i, 13));
        });
    for (auto &thread : threads)
        thread.join();
    printf("%lx\n", (unsigned long)(sums[0] + sums[1]));
}
