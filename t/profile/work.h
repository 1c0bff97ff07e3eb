/* Work at several depths, some of it inlined.  A header, so that files differ. */
static inline __attribute__((always_inline)) unsigned
mix(unsigned v)
{
    v ^= v >> 15;
    v *= 0x2c1b3c6du;
    v ^= v >> 12;
    return v * 0x297a2d39u;
}


static inline __attribute__((always_inline)) unsigned
mix_twice(unsigned v)
{
    return mix(mix(v) + 1);
}


static __attribute__((noinline)) unsigned
leaf(unsigned v)
{
    for (unsigned i = 0; i < 20000; i++) {
        v += mix_twice(v + i);
    }

    return v;
}


static __attribute__((noinline)) unsigned
middle(unsigned v)
{
    for (unsigned i = 0; i < 10; i++) {
        v += leaf(v + i);
        v = mix(v);
    }

    return v;
}


static __attribute__((noinline)) unsigned
work(unsigned v)
{
    return middle(v) + mix_twice(middle(v + 1));
}
