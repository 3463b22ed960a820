/* word_count.cc: a C++ program as many are: short methods, templates, containers, a shared table
 * under a mutex, and exceptions for what is malformed.  Four threads count the words of generated
 * texts; a word with a digit in it is malformed and is thrown away.  Counts are checked. */
#include "known.h"

#include <cctype>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace words
{
#ifndef WORD_COUNT_TEXTS
#define WORD_COUNT_TEXTS 50
#endif
enum { THREADS = 4, TEXTS = WORD_COUNT_TEXTS, WORDS = 200, MALFORMED_EVERY = 20 };

class Malformed : public std::runtime_error
{
  public:
    explicit Malformed(const std::string &word) : std::runtime_error("malformed: " + word)
    {
    }
};

class Reader
{
  public:
    explicit Reader(const std::string &whole) : text(whole), at(0)
    {
    }
    bool at_end() const
    {
        return at >= text.size();
    }
    KNOWN_FUNCTION char peek() const
    {
        return text[at];
    }
    KNOWN_FUNCTION char next()
    {
        return text[at++];
    }
    KNOWN_FUNCTION void skip_blanks()
    {
        while (!at_end() && peek() == ' ')
            next();
    }

  private:
    const std::string &text;
    size_t at;
};

class Word
{
  public:
    KNOWN_FUNCTION void append(char letter)
    {
        if (std::isdigit(static_cast<unsigned char>(letter)))
            throw Malformed(letters + letter);
        letters += letter;
    }
    KNOWN_FUNCTION const std::string &str() const
    {
        return letters;
    }

  private:
    std::string letters;
};

template <typename Key> class Table
{
  public:
    KNOWN_FUNCTION void add(const Key &key)
    {
        std::lock_guard<std::mutex> guard(mutex);
        counts[key]++;
        total++;
    }
    KNOWN_FUNCTION long size() const
    {
        return total;
    }
    std::map<Key, long> counts;

  private:
    mutable std::mutex mutex;
    long total = 0;
};

/* Leaves the rest of a malformed word behind, and throws. */
KNOWN_FUNCTION Word read_word(Reader &reader)
{
    Word word;
    while (!reader.at_end() && reader.peek() != ' ')
        word.append(reader.next());
    return word;
}

class Counter
{
  public:
    explicit Counter(Table<std::string> &shared) : table(shared), malformed(0)
    {
    }
    KNOWN_FUNCTION void count(const std::string &text)
    {
        Reader reader(text);
        for (reader.skip_blanks(); !reader.at_end(); reader.skip_blanks()) {
            try {
                table.add(read_word(reader).str());
            } catch (const Malformed &) {
                malformed++;
            }
        }
    }
    Table<std::string> &table;
    long malformed;
};

/* Malformed words end in the digit, so that nothing of them is left. */
KNOWN_FUNCTION std::string make_text(int seed)
{
    std::string text;
    for (int i = 0; i < WORDS; i++) {
        text += static_cast<char>('a' + (i * 7 + seed) % 26);
        text += static_cast<char>('a' + i % 26);
        if (i % MALFORMED_EVERY == 0)
            text += '1';
        text += ' ';
    }
    return text;
}
} // namespace words

using namespace words;

int main()
{
    Table<std::string> table;
    std::vector<std::unique_ptr<Counter>> counters;
    std::vector<std::thread> threads;
    for (int i = 0; i < THREADS; i++)
        counters.push_back(std::make_unique<Counter>(table));
    for (int i = 0; i < THREADS; i++)
        threads.emplace_back([&counters, i] {
            for (int text = 0; text < TEXTS; text++)
                counters[static_cast<size_t>(i)]->count(make_text(text));
        });
    long malformed = 0;
    for (int i = 0; i < THREADS; i++) {
        threads[static_cast<size_t>(i)].join();
        malformed += counters[static_cast<size_t>(i)]->malformed;
    }
    const long all = static_cast<long>(THREADS) * TEXTS * WORDS;
    KNOWN_CHECK(malformed == all / MALFORMED_EVERY && table.size() == all - malformed);
    known__number("words::read_word", all);
    known__number("words::read_word.thrown", malformed);
    known__number("words::Table<std::string>::add", all - malformed);
    known__number("words::make_text", THREADS * TEXTS);
    known__number("words::Counter::count", THREADS * TEXTS);
    known__number("mutex_acquired", all - malformed);
    known__number("distinct", static_cast<long long>(table.counts.size()));
#ifdef WORD_COUNT_CPU /* for benchmarks */
    struct timespec cpu;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    known__number("cpu_ns", cpu.tv_sec * 1000000000ll + cpu.tv_nsec);
#endif
    return 0;
}
