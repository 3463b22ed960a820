// A cache of parsed documents: one mutex, and what is missing is parsed while it is held.
// TRUTH: lock; place=DocumentCache::find|serve; object=DocumentCache|mutex
// Fixed: parsed outside of the lock.
#include "truth.h"

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

struct Document {
    std::string title;
    uint64_t words;
};

static std::shared_ptr<Document> parse(const std::string &name)
{
    uint64_t words = std::hash<std::string>()(name);
    return std::make_shared<Document>(Document{name + ".html", mix(words, 9000) % 5000});
}

class DocumentCache
{
    std::mutex mutex;
    std::list<std::string> used;
    struct Entry {
        std::shared_ptr<Document> document;
        std::list<std::string>::iterator place;
    };
    std::unordered_map<std::string, Entry> entries;
    const bool parse_outside;

    void keep(const std::string &name, std::shared_ptr<Document> document)
    {
        if (entries.count(name))
            return;
        used.push_front(name);
        entries[name] = {std::move(document), used.begin()};
        if (entries.size() > 500) {
            entries.erase(used.back());
            used.pop_back();
        }
    }

  public:
    explicit DocumentCache(bool outside) : parse_outside(outside)
    {
    }
    std::shared_ptr<Document> find(const std::string &name)
    {
        std::unique_lock<std::mutex> guard(mutex);
        auto it = entries.find(name);
        if (it != entries.end()) {
            used.splice(used.begin(), used, it->second.place);
            return it->second.document;
        }
        if (parse_outside)
            guard.unlock();
        auto document = parse(name);
        if (parse_outside)
            guard.lock();
        keep(name, document);
        return document;
    }
};

static void serve(DocumentCache &cache, uint64_t seed, uint64_t &words)
{
    for (int i = 0; i < 40000; i++) {
        seed = mix(seed, 3);
        words += cache.find("page-" + std::to_string(seed % 2000))->words;
    }
}

int main(int argc, char **argv)
{
    DocumentCache cache(is_fixed(argc, argv));
    std::vector<std::thread> threads;
    uint64_t words[4] = {};
    for (int i = 0; i < 2; i++)
        threads.emplace_back([&, i] { serve(cache, 77 + i, words[i]); });
    for (auto &thread : threads)
        thread.join();
    printf("%lu\n", (unsigned long)(words[0] + words[1]));
}
