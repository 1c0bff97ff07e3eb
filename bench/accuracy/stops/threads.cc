/*
 * threads.cc - many threads with deep stacks, virtual calls, exceptions and
 * callbacks; one thread overwrites words of its own stack.
 */
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define NOINLINE __attribute__((noipa))

static volatile uint64_t sink;

struct Shape {
    virtual ~Shape() = default;
    virtual uint64_t area(unsigned n) const = 0;
};

struct Square : Shape {
    NOINLINE uint64_t
    area(unsigned n) const override
    {
        std::map<std::string, uint64_t> sizes;

        for (unsigned i = 0; i < 20; i++) {
            sizes[std::to_string(i * n)] = i;
        }
        return sizes.size();
    }
};

NOINLINE static uint64_t
deep(unsigned n, const std::function<uint64_t(unsigned)> &f)
{
    volatile char room[64] = { 0 };

    return n == 0 ? f(n) : deep(n - 1, f) + static_cast<uint64_t>(room[n % 64]);
}

NOINLINE static void
thrower(unsigned n)
{
    if (n % 3 == 0) {
        throw std::runtime_error("now");
    }
    sink = sink + n;
}

NOINLINE static void
work(unsigned id)
{
    Square square;

    for (unsigned i = 0;; i++) {
        try {
            sink = sink + deep(id * 7 % 90, [&](unsigned n) { return square.area(n + i); });
            thrower(i);
        } catch (const std::exception &e) {
            sink = sink + e.what()[0];
        }
        if (id % 2 != 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
}

NOINLINE static void
corrupt(unsigned n)
{
    volatile uint64_t words[8];

    for (unsigned i = 0; i < 8; i++) {
        words[i] = i * 0x1234567;
    }
    if (n != 0) {
        corrupt(n - 1);
    }
    /* return addresses of callers, which are never used again */
    for (unsigned i = 30; n == 20 && i < 200; i++) {
        words[i] = i % 5 != 0 ? i : reinterpret_cast<uintptr_t>(&work) + i;
    }
    for (;;) {
        std::this_thread::sleep_for(std::chrono::seconds(1));
    }
}

int
main()
{
    std::vector<std::thread> threads;

    for (unsigned i = 0; i < 20; i++) {
        threads.emplace_back(work, i);
    }
    threads.emplace_back(corrupt, 5);
    threads.emplace_back(corrupt, 20);
    threads[0].join();
}
