/* leveldb_writer.cc: threads that insert into one LevelDB database.
 *
 *     leveldb_writer DIRECTORY [THREADS [KEYS [VALUE_BYTES]]]
 *
 * Makes a fresh database in DIRECTORY/leveldb, lets THREADS threads insert KEYS keys in all, looks
 * each of them up again, and removes the database.  Prints threads, puts, found, elapsed_ns (of the
 * inserting) and put_ns: mean time of one insertion as its thread sees it.
 *
 * What is known of it: leveldb::DBImpl::Write puts the caller into a queue under the one mutex of
 * the database.  The first of the queue writes for those behind it, too, without the mutex; each of
 * them waits on a condition variable of its own until its batch is written or it is the first.  So
 * put_ns rises with the threads, and the time is lost in condition waits. */
#include "known.h"

#include <leveldb/db.h>
#include <leveldb/write_batch.h>

#include <string>

namespace
{

enum { THREADS_MAX = 256, KEY_BYTES = 16 };

struct writer {
    pthread_t thread;
    leveldb::DB *database;
    long first, keys, value_bytes;
    uint64_t spent_ns;
};

uint64_t now_ns()
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

/* Keys of all threads lie among each other in the order of the database. */
std::string key_of(long number)
{
    char text[KEY_BYTES + 1];
    snprintf(text, sizeof text, "%016llx",
             static_cast<unsigned long long>(number) * 0x9e3779b97f4a7c15ull);
    return text;
}

void must(const leveldb::Status &status, const char *what)
{
    if (status.ok())
        return;
    fprintf(stderr, "leveldb_writer: %s: %s\n", what, status.ToString().c_str());
    _exit(1);
}

void *insert(void *argument)
{
    struct writer *writer = static_cast<struct writer *>(argument);
    const std::string value(static_cast<size_t>(writer->value_bytes), 'v');
    uint64_t start_ns = now_ns();
    for (long i = 0; i < writer->keys; i++)
        must(writer->database->Put(leveldb::WriteOptions(), key_of(writer->first + i), value),
             "a key cannot be inserted");
    writer->spent_ns = now_ns() - start_ns;
    return nullptr;
}

long count_found(leveldb::DB *database, long keys, long value_bytes)
{
    long found = 0;
    std::string value;
    for (long i = 0; i < keys; i++)
        found += database->Get(leveldb::ReadOptions(), key_of(i), &value).ok() &&
                 value.size() == static_cast<size_t>(value_bytes);
    return found;
}

long number_argument(int argc, char **argv, int index, long standard, long most)
{
    if (index >= argc)
        return standard;
    char *end = nullptr;
    long number = strtol(argv[index], &end, 10);
    if (*end || number < 1 || number > most) {
        fprintf(stderr, "leveldb_writer: %s is not a number from 1 to %ld\n", argv[index], most);
        exit(2);
    }
    return number;
}

uint64_t insert_all(leveldb::DB *database, long threads, long keys, long value_bytes)
{
    static struct writer writers[THREADS_MAX];
    uint64_t spent_ns = 0;
    long first = 0;
    for (long i = 0; i < threads; i++) {
        long share = keys / threads + (i < keys % threads);
        writers[i] = {pthread_t(), database, first, share, value_bytes, 0};
        first += share;
        KNOWN_CHECK(pthread_create(&writers[i].thread, nullptr, insert, &writers[i]) == 0);
    }
    for (long i = 0; i < threads; i++) {
        pthread_join(writers[i].thread, nullptr);
        spent_ns += writers[i].spent_ns;
    }
    return spent_ns;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 5) {
        fprintf(stderr, "usage: %s DIRECTORY [THREADS [KEYS [VALUE_BYTES]]]\n", argv[0]);
        return 2;
    }
    const std::string path = std::string(argv[1]) + "/leveldb";
    long threads = number_argument(argc, argv, 2, 4, THREADS_MAX);
    long keys = number_argument(argc, argv, 3, 20000, 100000000);
    long value_bytes = number_argument(argc, argv, 4, 100, 1 << 20);
    leveldb::Options options;
    options.create_if_missing = true;
    options.error_if_exists = true;
    leveldb::DB *database = nullptr;
    must(leveldb::DB::Open(options, path, &database), "the database cannot be made");
    uint64_t start_ns = now_ns();
    uint64_t spent_ns = insert_all(database, threads, keys, value_bytes);
    uint64_t elapsed_ns = now_ns() - start_ns;
    long found = count_found(database, keys, value_bytes);
    delete database;
    must(leveldb::DestroyDB(path, options), "the database cannot be removed");
    known__number("threads", threads);
    known__number("puts", keys);
    known__number("found", found);
    known__number("elapsed_ns", static_cast<long long>(elapsed_ns));
    known__number("put_ns", static_cast<long long>(spent_ns / static_cast<uint64_t>(keys)));
    return found != keys;
}
