#include "place/place_policy.h"

#include <string.h>
#include <sys/mman.h>

/* Pages for count items; NULL: there is no memory. They are never given back. */
static void *pages_for(size_t count, size_t bytes)
{
    void *memory =
        mmap(NULL, count * bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* The next word of the line, ended by a zero; NULL: there is none. */
static char *next_word(char **at)
{
    char *word = *at + strspn(*at, " \t\r");
    if (!*word)
        return NULL;
    *at = word + strcspn(word, " \t\r");
    if (**at)
        *(*at)++ = 0;
    return word;
}

static int digit_of(char digit)
{
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                                          : 99;
}

/* A number up to the character end. */
static bool take_number(char **at, unsigned base, char end, uint64_t *number)
{
    char *from = *at;
    for (*number = 0; digit_of(**at) < (int)base; ++*at) {
        if (*number > UINT64_MAX / base - 1)
            return false;
        *number = *number * base + (uint64_t)digit_of(**at);
    }
    bool is_number = *at > from && **at == end;
    *at += **at != 0;
    return is_number;
}

/* "0011…+0x1f20" */
static bool take_place(char *word, struct place_rule *rule)
{
    if (!word)
        return false;
    for (; *word != '+'; word += 2) {
        int high = digit_of(word[0]), low = high < 16 ? digit_of(word[1]) : 99;
        if (low > 15 || rule->build_id_bytes == PLACE_BUILD_ID_MOST)
            return false;
        rule->build_id[rule->build_id_bytes++] = (uint8_t)(high * 16 + low);
    }
    if (strncmp(word, "+0x", 3) != 0 || !rule->build_id_bytes)
        return false;
    word += 3;
    return take_number(&word, 16, 0, &rule->offset);
}

/* "4096-8192", of a variable "4096". */
static bool take_bytes(char *word, struct place_rule *rule)
{
    if (!word)
        return false;
    if (rule->kind == RULE_DATA) {
        bool is_number = take_number(&word, 10, 0, &rule->least_bytes);
        rule->most_bytes = rule->least_bytes;
        return is_number;
    }
    return take_number(&word, 10, '-', &rule->least_bytes) &&
           take_number(&word, 10, 0, &rule->most_bytes);
}

/* "512=3", of POLICY_EACH and POLICY_CYCLE "3". */
static bool take_part(char *word, const struct place_rule *rule, struct place_part *part)
{
    uint64_t node;
    if (rule->policy == POLICY_PARTS && !take_number(&word, 10, '=', &part->page))
        return false;
    if (!take_number(&word, 10, 0, &node) || node >= PLACE_NODES_MOST)
        return false;
    part->node = (uint32_t)node;
    return true;
}

static size_t words_in(const char *line)
{
    size_t words = 0;
    for (; *line; line++)
        words += *line != ' ' && (line[1] == ' ' || !line[1]);
    return words;
}

static bool take_parts(char **at, struct place_rule *rule)
{
    size_t room = words_in(*at);
    struct place_part *parts = pages_for(room, sizeof *parts);
    char *word;
    while (parts && (word = next_word(at))) {
        if (strcmp(word, "small") == 0) {
            rule->small = true;
            continue;
        }
        struct place_part *part = &parts[rule->part_count++];
        if (!take_part(word, rule, part) ||
            (part > parts && rule->policy == POLICY_PARTS && part->page <= part[-1].page))
            return false;
    }
    rule->parts = parts;
    return parts && (rule->part_count > 0) == (rule->policy != POLICY_INTERLEAVE);
}

static bool take_policy(char **at, struct place_rule *rule)
{
    char *word = next_word(at), *pages;
    if (!word)
        return false;
    if (strcmp(word, "interleave") == 0)
        rule->policy = POLICY_INTERLEAVE;
    else if (strcmp(word, "each") == 0)
        rule->policy = POLICY_EACH;
    else if (strcmp(word, "cycle") == 0)
        rule->policy = POLICY_CYCLE;
    else if (strcmp(word, "parts") == 0 && (pages = next_word(at)) &&
             take_number(&pages, 10, 0, &rule->pages) && rule->pages)
        rule->policy = POLICY_PARTS;
    else
        return false;
    return take_parts(at, rule);
}

static bool take_rule(char *line, struct place_rule *rule)
{
    char *word = next_word(&line);
    *rule = (struct place_rule){.kind = RULE_SITE};
    if (strcmp(word, "data") == 0)
        rule->kind = RULE_DATA;
    else if (strcmp(word, "site") != 0)
        return false;
    return take_place(next_word(&line), rule) && take_bytes(next_word(&line), rule) &&
           take_policy(&line, rule);
}

static bool is_empty(const char *line)
{
    line += strspn(line, " \t\r");
    return !*line || *line == '#';
}

/* Ends the line with a zero, and goes behind it. */
static char *next_line(char **at)
{
    char *line = *at;
    *at += strcspn(line, "\n");
    if (**at)
        *(*at)++ = 0;
    return line;
}

struct place_policy place_policy__parse(char *text, size_t length)
{
    struct place_policy policy = {.wrong_line = 1};
    size_t lines = 1;
    unsigned number = 0;
    bool has_begun = false;
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    policy.rules = pages_for(lines, sizeof *policy.rules);
    while (policy.rules && *text) {
        char *line = next_line(&text);
        number++;
        if (!has_begun) {
            has_begun = strcmp(line, "heurt-place 1") == 0;
        } else if (!is_empty(line) && !take_rule(line, &policy.rules[policy.count++])) {
            policy.count = 0;
            policy.wrong_line = number;
            return policy;
        }
    }
    policy.wrong_line = policy.rules && has_begun ? 0 : number + !number;
    return policy;
}
