// Each request copies the shared_ptr to the settings, to hold them while it is handled.
// TRUTH: true sharing|sharing|overlap; place=handle|serve|Server|main
// Fixed: the pointer is passed by reference.
#include "truth.h"

#include <memory>
#include <thread>
#include <vector>

struct Settings {
    uint64_t limits[16];
};

struct Request {
    uint64_t id, answer;
};

static void check(std::shared_ptr<const Settings> settings, Request &request)
{
    request.answer += settings->limits[request.id % 16];
}

static void check_in_place(const std::shared_ptr<const Settings> &settings, Request &request)
{
    request.answer += settings->limits[request.id % 16];
}

static void serve(std::shared_ptr<const Settings> settings, bool in_place, uint64_t *answers)
{
    Request request = {1, 0};
    for (int i = 0; i < 12000000; i++) {
        request.id = mix(request.id, 2);
        if (in_place)
            check_in_place(settings, request);
        else
            check(settings, request);
    }
    *answers = request.answer;
}

int main(int argc, char **argv)
{
    auto settings = std::make_shared<Settings>();
    for (int i = 0; i < 16; i++)
        settings->limits[i] = (uint64_t)i * 3;
    uint64_t answers[2][16] = {};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++)
        threads.emplace_back(serve, settings, is_fixed(argc, argv), answers[i]);
    for (auto &thread : threads)
        thread.join();
    printf("%lu\n", (unsigned long)(answers[0][0] + answers[1][0]));
}
