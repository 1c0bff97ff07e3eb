/*
 * llvm.cpp - LLVM's demangler of the Itanium C++ ABI, on a budget.
 *
 * LLVM's parser is a template in its headers (llvm/Demangle/ItaniumDemangle.h,
 * the source that libc++abi shares) and says itself what may be replaced: the
 * allocator of its nodes, and each production of the grammar through
 * getDerived().  So it is compiled here, and its limits are given to it:
 *
 *   - memory: one block, as large as the name allows; what LLVM takes from
 *     malloc() comes out of it, too
 *   - depth: productions that can hold themselves count how deep they are
 *   - output: the caller's buffer, and the bytes written, those counted that an
 *     empty pack takes back
 *
 * Whatever is used up ends the call by longjmp().  No object here owns anything
 * but memory of the block, so that no destructor is missed.  Nothing of a C++
 * library is linked: no exceptions, no RTTI, no allocation by the language.
 */
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <array>
#include <limits>
#include <string_view>
#include <utility>

extern "C" {
#include "demangle/languages.h"
}

#define SYM_PRINT_WORK_MAX ((size_t) 64 * 1024)
#define SYM_DEPTH_MAX 768u

/* Bytes of memory for each byte of a name, and for any. */
#define SYM_MEMORY_EACH ((size_t) 128)
#define SYM_MEMORY_ANY ((size_t) 4096)

namespace {

/* What one call may use up, and where it goes when it has. */
struct budget_t {
    char *at, *end; /* memory that is left */
    size_t work;    /* bytes that may still be printed */
    unsigned depth;
    jmp_buf give_up;
};

/* LLVM's vectors call std::malloc(), which knows of no budget. */
thread_local budget_t *budget;


[[noreturn]] void
give_up()
{
    longjmp(budget->give_up, 1);
}


void *
take(size_t bytes)
{
    char *block = budget->at;

    bytes = (bytes + 15) & ~(size_t) 15;
    if (bytes > (size_t) (budget->end - block)) {
        give_up();
    }

    budget->at += bytes;
    return block;
}

} // namespace

/* LLVM's header asserts what a name cannot change; a broken assertion is a name
 * that is left as it is. */
#define DEMANGLE_ASSERT(expr, what) ((expr) ? (void) 0 : give_up())

/* Replaces Utility.h, LLVM's growing buffer. */
#define DEMANGLE_UTILITY_H

namespace llvm {
namespace itanium_demangle {

/* Found before ::std by what is written here as std::malloc(). */
namespace std {
using namespace ::std;

inline void *
malloc(size_t bytes)
{
    return take(bytes);
}

/* LLVM's vectors double: what they held is at most half of it. */
inline void *
realloc(void *old, size_t bytes)
{
    void *block = take(bytes);

    memcpy(block, old, bytes / 2);
    return block;
}

inline void
free(void *)
{
}

[[noreturn]] inline void
abort()
{
    give_up();
}
} // namespace std


class OutputBuffer {
    char *out;
    size_t len = 0, size;

    void spend(size_t bytes)
    {
        if (bytes > size - len || bytes >= budget->work) {
            give_up();
        }
        budget->work -= bytes + 1;
    }

  public:
    OutputBuffer(char *out_, size_t size_) : out(out_), size(size_)
    {
    }

    OutputBuffer(const OutputBuffer &) = delete;
    OutputBuffer &operator=(const OutputBuffer &) = delete;

    unsigned CurrentPackIndex = std::numeric_limits<unsigned>::max();
    unsigned CurrentPackMax = std::numeric_limits<unsigned>::max();
    unsigned GtIsGt = 1;

    bool isGtInsideTemplateArgs() const
    {
        return GtIsGt == 0;
    }

    void printOpen(char open = '(')
    {
        GtIsGt++;
        *this += open;
    }

    void printClose(char close = ')')
    {
        GtIsGt--;
        *this += close;
    }

    OutputBuffer &operator+=(std::string_view text)
    {
        spend(text.size());
        if (!text.empty()) {
            memcpy(out + len, text.data(), text.size());
            len += text.size();
        }
        return *this;
    }

    OutputBuffer &operator+=(char c)
    {
        spend(1);
        out[len++] = c;
        return *this;
    }

    OutputBuffer &operator<<(std::string_view text)
    {
        return *this += text;
    }

    OutputBuffer &operator<<(char c)
    {
        return *this += c;
    }

    OutputBuffer &operator<<(unsigned long long n)
    {
        char digits[20];
        size_t at = sizeof(digits);

        do {
            digits[--at] = (char) ('0' + n % 10);
            n /= 10;
        } while (n != 0);
        return *this += std::string_view(digits + at, sizeof(digits) - at);
    }

    OutputBuffer &operator<<(unsigned n)
    {
        return *this << (unsigned long long) n;
    }

    OutputBuffer &operator<<(unsigned long n)
    {
        return *this << (unsigned long long) n;
    }

    /* Where a pack may turn out empty it is asked again and again. */
    size_t getCurrentPosition() const
    {
        if (budget->work-- == 0) {
            give_up();
        }
        return len;
    }

    void setCurrentPosition(size_t position)
    {
        len = position;
    }

    char back() const
    {
        return len != 0 ? out[len - 1] : '\0';
    }

    bool empty() const
    {
        return len == 0;
    }
};


template <class T> class ScopedOverride {
    T &loc;
    T original;

  public:
    ScopedOverride(T &l) : ScopedOverride(l, l)
    {
    }

    ScopedOverride(T &l, T value) : loc(l), original(l)
    {
        l = std::move(value);
    }

    ~ScopedOverride()
    {
        loc = std::move(original);
    }

    ScopedOverride(const ScopedOverride &) = delete;
    ScopedOverride &operator=(const ScopedOverride &) = delete;
};

} // namespace itanium_demangle
} // namespace llvm

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <llvm/Demangle/ItaniumDemangle.h>
#pragma GCC diagnostic pop

namespace {

using llvm::itanium_demangle::AbstractManglingParser;
using llvm::itanium_demangle::FunctionEncoding;
using llvm::itanium_demangle::Node;
using llvm::itanium_demangle::OutputBuffer;

struct alloc_t {
    void reset()
    {
    }

    template <typename T, typename... Args> Node *makeNode(Args &&...args)
    {
        return new (take(sizeof(T))) T(std::forward<Args>(args)...);
    }

    void *allocateNodeArray(size_t n)
    {
        return take(n * sizeof(Node *));
    }
};


struct deeper_t {
    deeper_t()
    {
        if (++budget->depth > SYM_DEPTH_MAX) {
            give_up();
        }
    }

    ~deeper_t()
    {
        budget->depth--;
    }
};


/* Each way back to a production leads through one of these. */
struct parser_t : AbstractManglingParser<parser_t, alloc_t> {
    using base_t = AbstractManglingParser<parser_t, alloc_t>;
    using base_t::base_t;

    Node *parseEncoding(bool params = true)
    {
        deeper_t deeper;
        return base_t::parseEncoding(params);
    }

    Node *parseName(NameState *state = nullptr)
    {
        deeper_t deeper;
        return base_t::parseName(state);
    }

    Node *parseType()
    {
        deeper_t deeper;
        return base_t::parseType();
    }

    Node *parseQualifiedType()
    {
        deeper_t deeper;
        return base_t::parseQualifiedType();
    }

    Node *parseExpr()
    {
        deeper_t deeper;
        return base_t::parseExpr();
    }

    Node *parseBracedExpr()
    {
        deeper_t deeper;
        return base_t::parseBracedExpr();
    }

    Node *parseTemplateArg()
    {
        deeper_t deeper;
        return base_t::parseTemplateArg();
    }

    Node *parseTemplateParamDecl(TemplateParamList *params)
    {
        deeper_t deeper;
        return base_t::parseTemplateParamDecl(params);
    }
};


/* The same function without its return type; nullptr: it is no function, or a
 * copy of one. */
Node *
without_return(parser_t &parser, Node *root)
{
    Node *function = nullptr;

    if (root->getKind() == Node::KFunctionEncoding) {
        auto copy = [&](const Node *, auto... parts) {
            function = parser.ASTAllocator.makeNode<FunctionEncoding>(nullptr,
                                                                      parts...);
        };

        static_cast<FunctionEncoding *>(root)->match(copy);
    }

    return function;
}


size_t
demangle(const char *name, size_t len, bool has_return, char *out, size_t size)
{
    parser_t parser(name, name + len);
    OutputBuffer text(out, size);
    Node *root = parser.parse();

    if (root != nullptr && !has_return) {
        root = without_return(parser, root);
    }

    if (root == nullptr) {
        return 0;
    }

    root->print(text);
    return text.getCurrentPosition();
}

} // namespace

/* <discriminator>: "_" and a digit, "__" and a number of more digits and "_", or
 * digits to the end of the name (Itanium C++ ABI, 5.1.6.2).  LLVM's header leaves
 * it to the file that is compiled into its archive. */
const char *
llvm::itanium_demangle::parse_discriminator(const char *first, const char *last)
{
    const auto behind_digits = [last](const char *p) {
        while (p != last && *p >= '0' && *p <= '9') {
            p++;
        }
        return p;
    };
    const size_t left = (size_t) (last - first);

    if (left >= 2 && first[0] == '_') {
        const char *from = first + (first[1] == '_' ? 2 : 1);
        const char *p = behind_digits(from);

        if (from == first + 1) {
            return p != from ? from + 1 : first;
        }
        return p != from && p != last && *p == '_' ? p + 1 : first;
    }

    return left != 0 && behind_digits(first) == last ? last : first;
}


#ifndef SYM_HAVE_CXX_LIBRARY /* libFuzzer has one, and calls its delete */

/* What a C++ library would bring, and nothing ever calls: virtual destructors
 * name delete, virtual functions without a body what is called for them.  Hidden:
 * others in the process have theirs. */
__asm__(".hidden _ZdlPv\n.hidden _ZdlPvm\n.hidden __cxa_pure_virtual");

void
operator delete(void *) noexcept
{
    abort();
}


void
operator delete(void *, size_t) noexcept
{
    abort();
}


extern "C" void __cxa_pure_virtual();

extern "C" void
__cxa_pure_virtual()
{
    abort();
}

#endif


extern "C" size_t
sym_demangle_llvm(const char *name, size_t len, bool has_return, char *out,
                  size_t size, bool *is_costly)
{
    size_t bytes = SYM_MEMORY_ANY + len * SYM_MEMORY_EACH;
    char *memory = static_cast<char *>(malloc(bytes));
    volatile size_t shown = 0;
    budget_t b;

    *is_costly = false;
    if (memory == nullptr) {
        return 0;
    }

    b.at = memory;
    b.end = memory + bytes;
    b.work = SYM_PRINT_WORK_MAX;
    b.depth = 0;
    budget = &b;

    if (_setjmp(b.give_up) == 0) {
        shown = demangle(name, len, has_return, out, size);
    } else {
        *is_costly = true;
    }

    budget = nullptr;
    free(memory);
    return shown;
}
