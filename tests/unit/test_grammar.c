/* The grammar of a string: nothing is lost, its rules are what grammar.h says, and what a nest of
 * loops does is found as that nest. */
#include "analysis/structure/grammar.h"
#include "analysis/structure/grammar_parts.h"
#include "base/memory.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* ---- what must hold of any grammar ----------------------------------------------------------- */

struct string {
    struct vec symbols; /* uint32_t */
};

static struct string empty_string(void)
{
    return (struct string){VEC_OF(uint32_t)};
}

static void put(struct string *string, uint32_t symbol)
{
    vec__push(&string->symbols, &symbol);
}

static uint32_t symbol_at(const struct string *string, size_t index)
{
    return *VEC_AT(&string->symbols, uint32_t, index);
}

struct digram {
    struct grammar_item left, right;
};

static int compare_items(const struct grammar_item *a, const struct grammar_item *b)
{
    if (a->symbol != b->symbol)
        return a->symbol < b->symbol ? -1 : 1;
    return (a->count > b->count) - (a->count < b->count);
}

static int compare_digrams(const void *a, const void *b)
{
    const struct digram *one = a, *other = b;
    int left = compare_items(&one->left, &other->left);
    return left ? left : compare_items(&one->right, &other->right);
}

struct rules {
    struct vec items;  /* struct grammar_item: of all rules, one after the other */
    struct vec starts; /* size_t: and one past the last */
};

static struct rules read_rules(const struct grammar *grammar)
{
    struct rules rules = {VEC_OF(struct grammar_item), VEC_OF(size_t)};
    for (size_t i = 0; i < grammar__rules(grammar); i++) {
        vec__push(&rules.starts, &rules.items.count);
        size_t before = rules.items.count;
        size_t count = grammar__rule(grammar, i, &rules.items);
        assert_int_equal(count, rules.items.count - before);
    }
    vec__push(&rules.starts, &rules.items.count);
    assert_int_equal(grammar__size(grammar), rules.items.count);
    return rules;
}

static const struct grammar_item *items_of(const struct rules *rules, size_t rule, size_t *count)
{
    const size_t *starts = VEC_AT(&rules->starts, size_t, rule);
    *count = starts[1] - starts[0];
    return VEC_AT(&rules->items, struct grammar_item, starts[0]);
}

static void free_rules(struct rules *rules)
{
    vec__free(&rules->items);
    vec__free(&rules->starts);
}

static void check_digrams(const struct rules *rules, size_t rule_count)
{
    struct vec digrams = VEC_OF(struct digram);
    for (size_t i = 0; i < rule_count; i++) {
        size_t count;
        const struct grammar_item *items = items_of(rules, i, &count);
        assert_true(i == 0 || count >= 2);
        for (size_t k = 0; k + 1 < count; k++) {
            assert_int_not_equal(items[k].symbol, items[k + 1].symbol);
            vec__push(&digrams, &(struct digram){items[k], items[k + 1]});
        }
    }
    if (digrams.count > 0)
        qsort(digrams.items, digrams.count, sizeof(struct digram), compare_digrams);
    for (size_t i = 0; i + 1 < digrams.count; i++)
        assert_int_not_equal(compare_digrams(VEC_AT(&digrams, struct digram, i),
                                             VEC_AT(&digrams, struct digram, i + 1)),
                             0);
    vec__free(&digrams);
}

/* Every rule is named twice or in a loop, and its uses and length are what its items say. */
static void check_use(const struct grammar *grammar, const struct rules *rules)
{
    size_t rule_count = grammar__rules(grammar);
    size_t *places = memory__zeroed(rule_count, sizeof *places);
    uint64_t *uses = memory__zeroed(rule_count, sizeof *uses);
    uses[0] = 1;
    for (size_t i = 0; i < rule_count; i++) {
        size_t count;
        uint64_t length = 0;
        const struct grammar_item *items = items_of(rules, i, &count);
        for (size_t k = 0; k < count; k++) {
            assert_true(items[k].count >= 1);
            size_t rule = items[k].symbol & ~GRAMMAR_RULE;
            bool terminal = rule == items[k].symbol;
            length += items[k].count * (terminal ? 1 : grammar__length(grammar, rule));
            if (terminal)
                continue;
            assert_in_range(rule, 1, rule_count - 1);
            places[rule] += items[k].count > 1 ? 2 : 1;
            uses[rule] += items[k].count * grammar__uses(grammar, i);
        }
        assert_int_equal(length, grammar__length(grammar, i));
    }
    for (size_t i = 0; i < rule_count; i++) {
        assert_true(i == 0 || places[i] >= 2);
        assert_int_equal(uses[i], grammar__uses(grammar, i));
    }
    free(places);
    free(uses);
}

static void check_expansion(const struct grammar *grammar, const struct string *string,
                            size_t length)
{
    assert_int_equal(grammar__length(grammar, 0), length);
    struct grammar_walk walk;
    grammar_walk__start(&walk, grammar, 0);
    uint32_t symbol;
    for (size_t i = 0; i < length; i++) {
        assert_true(grammar_walk__next(&walk, &symbol));
        assert_int_equal(symbol, symbol_at(string, i));
    }
    assert_false(grammar_walk__next(&walk, &symbol));
    grammar_walk__stop(&walk);
}

static void check_grammar(const struct grammar *grammar, const struct string *string, size_t length)
{
    struct rules rules = read_rules(grammar);
    check_expansion(grammar, string, length);
    check_digrams(&rules, grammar__rules(grammar));
    check_use(grammar, &rules);
    free_rules(&rules);
}

/* ---- strings --------------------------------------------------------------------------------- */

static uint64_t random_bits(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t bits = *random ^ *random >> 32;
    return bits * UINT64_C(0xd6e8feb86659fd93) >> 33;
}

static uint32_t random_below(uint64_t *random, uint32_t limit)
{
    return (uint32_t)(random_bits(random) % limit);
}

static struct string random_string(uint64_t seed, uint32_t alphabet, size_t length)
{
    struct string string = empty_string();
    for (size_t i = 0; i < length; i++)
        put(&string, random_below(&seed, alphabet));
    return string;
}

static struct string periodic_string(uint64_t seed, uint32_t alphabet, size_t period, size_t length)
{
    struct string string = random_string(seed, alphabet, period);
    for (size_t i = period; i < length; i++)
        put(&string, symbol_at(&string, i - period));
    return string;
}

/* A few phrases in random order, random numbers of times in a row: repeats at all scales that are
 * cut at any place. */
static struct string phrases_string(uint64_t seed, uint32_t alphabet, size_t length)
{
    struct string string = empty_string();
    for (size_t i = 0; i < 8; i++)
        put(&string, random_below(&seed, alphabet));
    while (string.symbols.count < length) {
        size_t start = random_below(&seed, (uint32_t)string.symbols.count);
        size_t span =
            1 + random_below(&seed, (uint32_t)(string.symbols.count - start)) % (length / 4 + 1);
        uint32_t times = 1 + random_below(&seed, 4);
        for (size_t i = 0; i < times * span && string.symbols.count < length; i++)
            put(&string, symbol_at(&string, start + i % span));
        if (random_below(&seed, 3) == 0)
            put(&string, random_below(&seed, alphabet));
    }
    return string;
}

static struct string fibonacci_word(size_t length)
{
    struct string string = empty_string();
    put(&string, 0);
    put(&string, 1);
    for (size_t last = 1, both = 2; both < length;) {
        for (size_t i = 0; i < last; i++)
            put(&string, symbol_at(&string, i));
        size_t sum = both + last;
        last = both;
        both = sum;
    }
    string.symbols.count = length < string.symbols.count ? length : string.symbols.count;
    return string;
}

static struct string thue_morse_word(size_t length)
{
    struct string string = empty_string();
    for (size_t i = 0; i < length; i++)
        put(&string, (uint32_t)__builtin_popcountll(i) & 1);
    return string;
}

/* Every word of `order` symbols once: by the preference for the greater symbol. */
static struct string de_bruijn_word(uint32_t alphabet, size_t order)
{
    size_t words = 1;
    for (size_t i = 0; i < order; i++)
        words *= alphabet;
    bool *seen = memory__zeroed(words, sizeof *seen);
    struct string string = empty_string();
    size_t word = 0;
    for (size_t i = 0; i < order; i++)
        put(&string, 0);
    seen[0] = true;
    for (bool found = true; found;) {
        found = false;
        for (uint32_t symbol = alphabet; symbol-- > 0 && !found;) {
            size_t next = (word * alphabet + symbol) % words;
            if (seen[next])
                continue;
            seen[next] = found = true;
            put(&string, symbol);
            word = next;
        }
    }
    free(seen);
    assert_int_equal(string.symbols.count, words + order - 1);
    return string;
}

/* a b a a b a a a b …: no two runs are alike. */
static struct string growing_runs(size_t length)
{
    struct string string = empty_string();
    for (size_t run = 1; string.symbols.count < length; run++) {
        for (size_t i = 0; i < run; i++)
            put(&string, 0);
        put(&string, 1);
    }
    return string;
}

/* ---- tries ----------------------------------------------------------------------------------- */

/* Ended after all of it; and, when each, after every symbol; and cut at every length. */
static void try_string(struct string string, bool each)
{
    struct grammar *grammar = grammar__new(), *ended = grammar__new();
    for (size_t i = 0; i < string.symbols.count; i++) {
        grammar__add(grammar, symbol_at(&string, i));
        if (!each)
            continue;
        grammar__add(ended, symbol_at(&string, i));
        grammar__end(ended);
        check_grammar(ended, &string, i + 1);
        struct grammar *cut = grammar__new();
        for (size_t k = 0; k <= i; k++)
            grammar__add(cut, symbol_at(&string, k));
        grammar__end(cut);
        check_grammar(cut, &string, i + 1);
        grammar__free(cut);
    }
    grammar__end(grammar);
    check_grammar(grammar, &string, string.symbols.count);
    grammar__free(grammar);
    grammar__free(ended);
    vec__free(&string.symbols);
}

static void empty(void **state)
{
    (void)state;
    struct grammar *grammar = grammar__new();
    grammar__end(grammar);
    assert_int_equal(grammar__rules(grammar), 1);
    assert_int_equal(grammar__size(grammar), 0);
    check_grammar(grammar, &(struct string){VEC_OF(uint32_t)}, 0);
    grammar__free(grammar);
    grammar__free(NULL);
}

/* All strings of a length over an alphabet; what ends in between is ended in between. */
static void try_all(uint32_t alphabet, size_t length, bool each)
{
    size_t strings = 1;
    for (size_t i = 0; i < length; i++)
        strings *= alphabet;
    for (size_t number = 0; number < strings; number++) {
        struct string string = empty_string();
        for (size_t i = 0, rest = number; i < length; i++, rest /= alphabet)
            put(&string, (uint32_t)(rest % alphabet));
        try_string(string, each);
    }
}

static void short_ones(void **state)
{
    (void)state;
    try_all(2, 9, true);
    try_all(3, 7, true);
    try_all(2, 15, false);
    try_all(3, 10, false);
    try_all(4, 7, false);
}

static void random_ones(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        uint32_t alphabet = 2 + (uint32_t)seed % 6;
        try_string(random_string(seed, alphabet, 150), true);
        try_string(random_string(seed, 1U << seed % 10, 20000), false);
    }
}

static void periodic_ones(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        uint32_t alphabet = 2 + (uint32_t)seed % 4;
        try_string(periodic_string(seed, alphabet, 1 + seed % 20, 120), true);
        try_string(periodic_string(seed, alphabet, 1 + 13 * seed, 10000), false);
    }
}

static void phrases(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        try_string(phrases_string(seed, 2 + (uint32_t)seed % 5, 150), true);
        try_string(phrases_string(seed, 2 + (uint32_t)seed % 9, 20000), false);
    }
}

static void known_words(void **state)
{
    (void)state;
    try_string(fibonacci_word(300), true);
    try_string(thue_morse_word(300), true);
    try_string(growing_runs(300), true);
    try_string(de_bruijn_word(2, 8), true);
    try_string(periodic_string(0, 1, 1, 300), true);
    try_string(fibonacci_word(300000), false);
    try_string(thue_morse_word(300000), false);
    try_string(growing_runs(300000), false);
    try_string(de_bruijn_word(2, 16), false);
    try_string(de_bruijn_word(7, 5), false);
    try_string(de_bruijn_word(300, 2), false);
}

static void append_all(struct grammar *grammar, struct string *string, const char *symbols)
{
    for (; *symbols; symbols++) {
        rewrite__append(grammar, (uint32_t)*symbols, 1);
        put(string, (uint32_t)*symbols);
    }
}

static uint32_t rule_of_last_pair(struct grammar *grammar)
{
    uint32_t last = node_at(grammar, last_item(grammar))->prev;
    return rewrite__new_rule(grammar, node_at(grammar, last)->prev, last);
}

/* Two rules become alike: no string is known that makes them so, and yet it has to work.  The
 * second one is met in loops too. */
static void rules_that_become_alike(void **state)
{
    (void)state;
    struct string string = empty_string();
    struct grammar *grammar = grammar__new();
    append_all(grammar, &string, "xyz");
    rule_of_last_pair(grammar);
    append_all(grammar, &string, "xyw");
    uint32_t second = rule_of_last_pair(grammar);
    for (size_t i = 0; i < 5; i++) {
        rewrite__append(grammar, GRAMMAR_RULE | second, 3);
        for (size_t k = 0; k < 6; k++)
            put(&string, k % 2 ? 'y' : 'x');
        append_all(grammar, &string, i % 2 ? "z" : "w");
    }
    rewrite__settle(grammar);
    grammar__end(grammar);
    check_grammar(grammar, &string, string.symbols.count);
    grammar__free(grammar);
    vec__free(&string.symbols);
}

/* ---- what is found --------------------------------------------------------------------------- */

static struct grammar *grammar_of(const char *text)
{
    struct grammar *grammar = grammar__new();
    for (; *text; text++)
        grammar__add(grammar, (uint32_t)*text);
    grammar__end(grammar);
    return grammar;
}

/* The rules, one a line: "R1 b d R2 e R1", counts behind ^. */
static char *text_of(const struct grammar *grammar)
{
    char *text = memory__text("");
    for (size_t i = 0; i < grammar__rules(grammar); i++) {
        struct vec items = VEC_OF(struct grammar_item);
        grammar__rule(grammar, i, &items);
        VEC_EACH (item, &items, struct grammar_item) {
            uint32_t symbol = item->symbol & ~GRAMMAR_RULE;
            char *count = item->count > 1 ? memory__format("^%lu", item->count) : memory__text("");
            char *more = symbol == item->symbol
                             ? memory__format("%s%c%s ", text, (char)symbol, count)
                             : memory__format("%sR%u%s ", text, symbol, count);
            free(text);
            free(count);
            text = more;
        }
        vec__free(&items);
        char *line = memory__format("%s\n", text);
        free(text);
        text = line;
    }
    return text;
}

static void assert_rules(const char *string, const char *expected)
{
    struct grammar *grammar = grammar_of(string);
    char *text = text_of(grammar);
    assert_string_equal(text, expected);
    free(text);
    grammar__free(grammar);
}

static void sequences(void **state)
{
    (void)state;
    assert_rules("abcbdabeabc", "R1 b d R2 e R1 \nR2 c \na b \n");
    struct grammar *grammar = grammar_of("abcbdabeabc");
    assert_int_equal(grammar__uses(grammar, 0), 1);
    assert_int_equal(grammar__uses(grammar, 1), 2);
    assert_int_equal(grammar__uses(grammar, 2), 3);
    assert_int_equal(grammar__length(grammar, 0), 11);
    assert_int_equal(grammar__length(grammar, 1), 3);
    assert_int_equal(grammar__length(grammar, 2), 2);
    grammar__free(grammar);
    assert_rules("abcdbcabcd", "R1 R2 R1 \na R2 d \nb c \n");
    assert_rules("abcdbc", "a R1 d R1 \nb c \n");
}

static void loops(void **state)
{
    (void)state;
    assert_rules("aaaaaa", "a^6 \n");
    assert_rules("ababab", "R1^3 \na b \n");
    assert_rules("abababcabababcabababcabababcabababc", "R1^5 \nR2^3 c \na b \n");
    assert_rules("aaabaaabaaab", "R1^3 \na^3 b \n");
    /* a loop that ends in the middle, and one that does not go on */
    assert_rules("abcabcabcab", "R1^3 R2 \nR2 c \na b \n");
}

/* Appends what a rule expands to, but for one that is left as it is. */
static void expand_but(const struct rules *rules, size_t rule, uint32_t kept, struct vec *expanded)
{
    size_t count;
    const struct grammar_item *items = items_of(rules, rule, &count);
    for (size_t i = 0; i < count; i++) {
        bool leave = !(items[i].symbol & GRAMMAR_RULE) || items[i].symbol == kept;
        for (uint64_t k = 0; k < (leave ? 1 : items[i].count); k++)
            if (leave)
                vec__push(expanded, &items[i]);
            else
                expand_but(rules, items[i].symbol & ~GRAMMAR_RULE, kept, expanded);
    }
}

/* The rule "a b". */
static uint32_t rule_of_loop(const struct rules *rules, size_t rule_count)
{
    for (size_t i = 1; i < rule_count; i++) {
        size_t count;
        const struct grammar_item *items = items_of(rules, i, &count);
        if (count == 2 && items[0].symbol == 'a' && items[1].symbol == 'b')
            return GRAMMAR_RULE | (uint32_t)i;
    }
    fail_msg("the loop is no rule");
    return 0;
}

static void put_text(struct string *string, const char *text)
{
    for (; *text; text++)
        put(string, (uint32_t)*text);
}

/* The same loop in the same surroundings, other numbers of iterations: wherever it was followed
 * before, its iterations stay one item. */
static void try_varying(const char *before, uint32_t least_iterations, const char *after)
{
    struct string string = empty_string();
    struct vec iterations = VEC_OF(uint32_t);
    uint64_t random = 1;
    for (size_t i = 0; i < 300; i++) {
        put_text(&string, before);
        uint32_t more = i < 2 ? 2 : least_iterations + random_below(&random, 5);
        vec__push(&iterations, &more);
        while (more-- > 0)
            put_text(&string, "ab");
        put_text(&string, after);
    }
    struct grammar *grammar = grammar__new();
    VEC_EACH (symbol, &string.symbols, uint32_t)
        grammar__add(grammar, *symbol);
    grammar__end(grammar);
    check_grammar(grammar, &string, string.symbols.count);

    struct rules rules = read_rules(grammar);
    struct vec expanded = VEC_OF(struct grammar_item);
    uint32_t loop = rule_of_loop(&rules, grammar__rules(grammar));
    expand_but(&rules, 0, loop, &expanded);
    size_t at = 0;
    VEC_EACH (item, &expanded, struct grammar_item)
        if (item->symbol == loop)
            assert_int_equal(item->count, *VEC_AT(&iterations, uint32_t, at++));
    assert_int_equal(at, iterations.count);
    vec__free(&iterations);
    vec__free(&expanded);
    free_rules(&rules);
    vec__free(&string.symbols);
    grammar__free(grammar);
}

static void counts_that_vary(void **state)
{
    (void)state;
    try_varying("", 2, "c");
    try_varying("c", 2, "");
    try_varying("x", 1, "z");
    try_varying("xy", 1, "zw");
    try_varying("pqx", 2, "acy");
    try_varying("", 2, "ac");
}

/* ---- nests of loops -------------------------------------------------------------------------- */

/* A sequence of parts, each a symbol of its own or a loop around a sequence; `iterations` of it.  A
 * loop around nothing but a loop would be one loop. */
struct callee_signature {
    uint32_t symbol; /* when there are no parts */
    uint64_t iterations;
    struct vec parts; /* struct callee_signature */
};

struct nest_maker {
    uint64_t random;
    uint32_t symbols;
    size_t items; /* of the nest's text */
};

static struct callee_signature make_nest(struct nest_maker *maker, unsigned depth,
                                         uint64_t iterations)
{
    struct callee_signature nest = {.iterations = iterations,
                                    .parts = VEC_OF(struct callee_signature)};
    uint32_t parts = depth == 0 ? 0 : 2 + random_below(&maker->random, 4);
    if (parts == 0)
        nest.symbol = maker->symbols++;
    for (uint32_t i = 0; i < parts; i++) {
        bool loop = random_below(&maker->random, 2) == 0;
        struct callee_signature part =
            make_nest(maker, loop ? random_below(&maker->random, depth) : 0,
                      loop ? 2 + random_below(&maker->random, 6) : 1);
        maker->items++;
        vec__push(&nest.parts, &part);
    }
    return nest;
}

static void free_nest(struct callee_signature *nest)
{
    VEC_EACH (part, &nest->parts, struct callee_signature)
        free_nest(part);
    vec__free(&nest->parts);
}

static void run_nest(const struct callee_signature *nest, struct string *string)
{
    for (uint64_t i = 0; i < nest->iterations; i++) {
        if (nest->parts.count == 0)
            put(string, nest->symbol);
        VEC_EACH (part, &nest->parts, struct callee_signature)
            run_nest(part, string);
    }
}

static void assert_nest(const struct callee_signature *nest, const struct rules *rules, size_t rule)
{
    size_t count;
    const struct grammar_item *items = items_of(rules, rule, &count);
    assert_int_equal(count, nest->parts.count);
    for (size_t i = 0; i < count; i++) {
        const struct callee_signature *part = VEC_AT(&nest->parts, struct callee_signature, i);
        assert_int_equal(items[i].count, part->iterations);
        if (part->parts.count == 0) {
            assert_int_equal(items[i].symbol, part->symbol);
            continue;
        }
        assert_true(items[i].symbol & GRAMMAR_RULE);
        assert_nest(part, rules, items[i].symbol & ~GRAMMAR_RULE);
    }
}

static void try_nest(uint64_t seed, unsigned depth)
{
    struct nest_maker maker = {.random = seed};
    struct callee_signature nest = make_nest(&maker, depth, 1);
    struct string string = empty_string();
    run_nest(&nest, &string);
    struct grammar *grammar = grammar__new();
    VEC_EACH (symbol, &string.symbols, uint32_t)
        grammar__add(grammar, *symbol);
    grammar__end(grammar);
    check_grammar(grammar, &string, string.symbols.count);
    assert_int_equal(grammar__size(grammar), maker.items);
    struct rules rules = read_rules(grammar);
    assert_nest(&nest, &rules, 0);
    free_rules(&rules);
    grammar__free(grammar);
    vec__free(&string.symbols);
    free_nest(&nest);
}

static void nests(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++)
        try_nest(seed, 1 + seed % 6);
}

/* A loop costs the same, however often it runs. */
static void memory_of_loops(void **state)
{
    (void)state;
    size_t bytes[2];
    for (int i = 0; i < 2; i++) {
        struct grammar *grammar = grammar__new();
        for (uint32_t k = 0; k < (i ? 1000000 : 10000); k++)
            grammar__add(grammar, k % 1000 < 100 ? k % 1000 : 100 + k % 3);
        grammar__end(grammar);
        bytes[i] = grammar__bytes(grammar);
        grammar__free(grammar);
    }
    assert_int_equal(bytes[0], bytes[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty),         cmocka_unit_test(sequences),
        cmocka_unit_test(loops),         cmocka_unit_test(counts_that_vary),
        cmocka_unit_test(nests),         cmocka_unit_test(memory_of_loops),
        cmocka_unit_test(short_ones),    cmocka_unit_test(random_ones),
        cmocka_unit_test(periodic_ones), cmocka_unit_test(phrases),
        cmocka_unit_test(known_words),   cmocka_unit_test(rules_that_become_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
