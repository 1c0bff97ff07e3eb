// A program for tests that need an executable and its debug file: functions of
// C and C++, inlined calls, copies made by gcc, some hundred symbols.

#include <stdio.h>

#include <map>
#include <string>
#include <vector>

namespace made {

static volatile int sink;

static inline __attribute__((always_inline)) int
innermost(int x)
{
    for (int i = 0; i < x; i++) {
        sink += i * x;
    }
    return sink / 3;
}

static inline __attribute__((always_inline)) int
inner(int x)
{
    if (x % 7 == 0) {
        return innermost(x + 1);
    }
    return innermost(x) + innermost(x * 2);
}

// Its third argument is never used: gcc makes a copy without it.
template <int N>
static __attribute__((noinline)) int
copied(int x, const int *by, int)
{
    return inner(x * N) + *by;
}

template <int N> struct Part {
    std::string name;
    std::vector<int> numbers;

    explicit Part(const char *text) : name(text)
    {
    }

    __attribute__((noinline)) int
    work(int x)
    {
        int by = x + N;

        numbers.push_back(x);
        return copied<N>(inner(x), &by, x) + (int) name.size();
    }
};

template <int N>
static int
all(int x)
{
    Part<N> part("part");

    return part.work(x) + all<N - 1>(x);
}

template <>
int
all<0>(int x)
{
    return innermost(x);
}

}

extern "C" __attribute__((noinline)) int
ConvertUTF8toUTF16(const char *from, int n)
{
    std::map<int, std::string> seen;

    for (int i = 0; i < n; i++) {
        seen[made::inner(from[i])] += from[i];
    }
    return (int) seen.size();
}

int
main(int argc, char **argv)
{
    printf("%d\n", made::all<140>(argc) + ConvertUTF8toUTF16(argv[0], argc));
    return 0;
}
