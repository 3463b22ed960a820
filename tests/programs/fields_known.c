/* fields_known.c: accesses to fields in all the ways that C has, see fields_known.h. */
#include "fields_known.h"

#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline))

typedef struct {
    long tid;
    long SX, SY, SXX, SYY, SXY;
    const int *points;
} lreg_args;

struct link {
    struct link *next;
    long key;
};

struct node {
    struct link link; /* first: both pointers are the same */
    int color;
    struct node *left, *right;
    double weights[4];
    double shares[4]; /* behind an array of the same kind: shares[n - 1] is near weights */
    union {
        long whole;
        float part;
    } value;
    unsigned first_flag : 3, second_flag : 9;
};

struct inner {
    int low, high;
};

struct outer {
    long before;
    struct inner in;
    long after;
    struct {
        int unnamed_low, unnamed_high;
    };
    struct inner many[3];
};

struct tree {
    struct node *root;
    struct node **table;
    long *counts;
    struct tree *parent;
    struct outer *outers;
};

struct bytes {
    unsigned char text[16];
    short shorts[8];
    char end;
};

static long totals[8];
static struct outer whole;
static struct tree *forest;
static long single;
struct outer row_of[4];

static int numbers[64];
static const char text[] = "a text";

/* ---- what each does -------------------------------------------------------------------------- */

APART static void regress(lreg_args *args, int count)
{
    for (int i = 0; i < count; i++) {
        args->SX += args->points[i];
        args->SXX += args->points[i] * args->points[i];
        args->SY += i;
        args->SYY += (long)i * i;
        args->SXY += args->points[i] * i;
        HIDE(args);
    }
}

APART static void *start(void *argument)
{
    lreg_args *args = argument;
    args->tid++;
    regress(args, 8);
    return argument;
}

static inline void bump(struct inner *in, int by)
{
    in->low += by;
    in->high -= by;
}

APART static long use_outer(struct outer *out, int n)
{
    struct inner *in = &out->in;
    HIDE(n);
    bump(in, n);
    out->before = in->low;
    bump(&out->many[1], n);
    out->unnamed_high++;
    bump(&out->many[n % 3], 1);
    out->after += out->many[2].high + out->unnamed_low;
    return out->after;
}

/* The pointer is to a member, and what is behind it is reached by the object around it. */
APART static long through_member(struct inner *in)
{
    struct outer *out = (struct outer *)(void *)((char *)in - offsetof(struct outer, in));
    in->high = 4;
    out->after++;
    out->before += in->low;
    return out->many[0].low;
}

APART static long sum_rows(const struct outer *rows, int count)
{
    long sum = 0;
    for (int i = 0; i < count; i++)
        sum += rows[i].after + rows[i].in.high + rows[i].many[i % 3].low;
    for (int i = count; i > 0; i--)
        sum ^= rows[i - 1].before;
    return sum;
}

APART static void fill_rows(struct outer *rows, int count)
{
    for (struct outer *at = rows; at < rows + count; at++) {
        at->before = at - rows;
        at->in.low = (int)at->before;
        at->many[2].low = 7;
    }
}

APART static double weigh(struct node *node, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += node->weights[i] * 2;
        node->shares[i] += sum;
    }
    sum += node->shares[n - 1];
    sum -= node->weights[n - 1];
    return sum + node->weights[2] + node->shares[0];
}

APART static long walk_list(struct link *link)
{
    long sum = 0;
    for (; link; link = link->next)
        sum += link->key++;
    return sum;
}

APART static long find(struct node *node, long key)
{
    while (node && node->link.key != key) {
        node->color++;
        node = key < node->link.key ? node->left : node->right;
    }
    return node ? node->value.whole : 0;
}

APART static long chains(struct tree *tree, int n)
{
    tree->root->left->color = 3;
    tree->parent->root->link.key += 2;
    tree->table[n]->color++;
    tree->counts[n] += tree->counts[n + 1];
    (*tree->table)->value.whole = n;
    tree->outers[n].in.high++;
    tree->outers[n].many[n].high++;
    tree->parent->outers->after--;
    return tree->root->link.next ? tree->root->link.next->key : 0;
}

APART static void unions_and_bits(struct node *node, int n)
{
    if (n & 1)
        node->value.part = (float)n;
    else
        node->value.whole += n;
    node->first_flag = (unsigned)n & 7;
    node->second_flag ^= 5;
    node->color |= n;
}

APART static void statics(int n)
{
    totals[n]++;
    totals[2] += n;
    whole.in.high = n;
    whole.many[1].low++;
    single += totals[n - 1];
    row_of[n].after += 3;
    row_of[2].in.low--;
    forest->root->color--;
    for (int i = 0; i < 8; i++)
        totals[i] ^= i;
}

APART static long by_switch(struct tree *tree, struct node *node, int what)
{
    long sum = 0;
    for (int i = 0; i < 6; i++) {
        HIDE(what);
        switch ((what + i) % 7) {
        case 0:
            sum += node->color++;
            break;
        case 1:
            node = node->left;
            sum += node->color;
            /* fall through */
        case 2:
            node->link.key++;
            break;
        case 3:
            tree = tree->parent;
            tree->counts[1]++;
            break;
        case 4:
            sum += tree->root->color;
            break;
        case 5:
            sum += (long)tree->outers[i].after * 5;
            break;
        default:
            sum--;
        }
    }
    return sum;
}

APART static void set_local(struct outer *out, int *number)
{
    out->after = *number;
    *number += 2;
}

APART static long locals(int n)
{
    struct outer mine = {0};
    int number = n;
    long sums[8] = {0};
    know(&mine, sizeof mine, 1, "-", "outer");
    know(&number, sizeof number, 1, "number", "int");
    know(sums, sizeof *sums, 8, "sums", "long int");
    set_local(&mine, &number);
    for (int i = 0; i < number; i++) {
        sums[i & 7] += i;
        mine.in.low += number;
    }
    return sums[n & 7] + mine.after + mine.in.low;
}

APART static int texts(struct bytes *bytes, const char *from)
{
    int i = 0;
    for (; from[i] && i < 15; i++)
        bytes->text[i] = (unsigned char)from[i];
    bytes->text[i] = 0;
    bytes->shorts[i & 7] = (short)i;
    bytes->end = 'x';
    return bytes->text[0] + bytes->shorts[3];
}

/* Takes memory, as calloc does. */
APART __attribute__((malloc)) static void *make(size_t count, size_t bytes)
{
    made_at(__builtin_return_address(0));
    return calloc(count, bytes);
}

/* Who calls this knows what it is for. */
APART static void *make_checked(size_t count, size_t bytes)
{
    MAKES(char, "?");
    void *made = make(count, bytes);
    if (!made)
        abort();
    return made;
}

APART static void set_up_node(struct node *node, int color)
{
    node->color = color;
}

APART static struct node *make_node(int color)
{
    MAKES(struct node, "node");
    struct node *node = make(1, sizeof *node);
    if (!node)
        return NULL;
    set_up_node(node, color);
    return node;
}

APART static struct tree *make_tree(struct tree *parent)
{
    MAKES(struct tree, "tree");
    struct tree *tree = make(1, sizeof *tree);
    tree->parent = parent;
    MAKES(long, "long int");
    tree->counts = make(8, sizeof *tree->counts);
    MAKES(struct node *, "node *");
    tree->table = (struct node **)make(4, sizeof *tree->table);
    MAKES(struct outer, "outer");
    tree->outers = make(6, sizeof *tree->outers);
    MAKES(struct node, "node");
    tree->root = make(1, sizeof *tree->root);
    MAKES(struct node, "node");
    tree->root->left = make(1, sizeof(struct node));
    MAKES(struct node, "node");
    struct node *right = make(1, sizeof *right);
    memset(right, 0, sizeof *right);
    set_up_node(right, 0);
    free(make_checked(1, 100));
    free(make_node(2));
    tree->root->right = right;
    for (int i = 0; i < 4; i++)
        tree->table[i] = tree->root;
    return tree;
}

/* ---- what there is --------------------------------------------------------------------------- */

static void know_tree(struct tree *tree)
{
    KNOW(tree, 1, "-", "tree");
    KNOW(tree->counts, 8, "counts", "long int");
    KNOW(tree->table, 4, "table", "node *");
    KNOW(tree->outers, 6, "-", "outer");
    KNOW(tree->root, 1, "-", "node");
    KNOW(tree->root->left, 1, "-", "node");
    KNOW(tree->root->right, 1, "-", "node");
}

static void tell_fields(void)
{
    TELL_FIELD(lreg_args, tid, "tid", "lreg_args");
    TELL_FIELD(lreg_args, SX, "SX", "lreg_args");
    TELL_FIELD(lreg_args, SY, "SY", "lreg_args");
    TELL_FIELD(lreg_args, SXX, "SXX", "lreg_args");
    TELL_FIELD(lreg_args, SYY, "SYY", "lreg_args");
    TELL_FIELD(lreg_args, SXY, "SXY", "lreg_args");
    TELL_FIELD(lreg_args, points, "points", "lreg_args");
    TELL_FIELD(struct link, next, "next", "link");
    TELL_FIELD(struct link, key, "key", "link");
    TELL_FIELD(struct node, link.next, "link.next", "node");
    TELL_FIELD(struct node, link.key, "link.key", "node");
    TELL_FIELD(struct node, color, "color", "node");
    TELL_FIELD(struct node, left, "left", "node");
    TELL_FIELD(struct node, right, "right", "node");
    TELL_FIELD(struct node, weights, "weights[]", "node");
    TELL_FIELD(struct node, shares, "shares[]", "node");
    TELL_FIELD(struct node, value, "value", "node");
    printf("field %zu 2 first_flag–second_flag;node\n",
           offsetof(struct node, value) + sizeof(((struct node *)0)->value));
    TELL_FIELD(struct outer, before, "before", "outer");
    TELL_FIELD(struct outer, in.low, "in.low", "outer");
    TELL_FIELD(struct outer, in.high, "in.high", "outer");
    TELL_FIELD(struct outer, after, "after", "outer");
    TELL_FIELD(struct outer, unnamed_low, "unnamed_low", "outer");
    TELL_FIELD(struct outer, unnamed_high, "unnamed_high", "outer");
    for (size_t i = 0; i < 3; i++) {
        size_t at = offsetof(struct outer, many) + i * sizeof(struct inner);
        printf("field %zu 4 many[].low;outer\nfield %zu 4 many[].high;outer\n", at, at + 4);
    }
    TELL_PART(struct node, link, 1, sizeof(struct link), "link", "node");
    TELL_PART(struct outer, in, 1, sizeof(struct inner), "inner", "outer");
    TELL_PART(struct outer, many, 3, sizeof(struct inner), "inner", "outer");
    TELL_FIELD(struct inner, low, "low", "inner");
    TELL_FIELD(struct inner, high, "high", "inner");
    TELL_FIELD(struct tree, root, "root", "tree");
    TELL_FIELD(struct tree, table, "table", "tree");
    TELL_FIELD(struct tree, counts, "counts", "tree");
    TELL_FIELD(struct tree, parent, "parent", "tree");
    TELL_FIELD(struct tree, outers, "outers", "tree");
    TELL_FIELD(struct bytes, text, "text[]", "bytes");
    TELL_FIELD(struct bytes, shorts, "shorts[]", "bytes");
    TELL_FIELD(struct bytes, end, "end", "bytes");
    tell_known_row();
}

static long work(struct tree *tree, lreg_args *args, struct bytes *bytes)
{
    struct node *root = tree->root;
    long sum = 0;
    start(&args[1]);
    sum += use_outer(&tree->outers[1], 2);
    sum += through_member(&tree->outers[2].in);
    sum += sum_rows(row_of, 4) + sum_rows(tree->outers, 3);
    fill_rows(tree->outers, 6);
    sum += (long)weigh(root, 4);
    sum += walk_list(&root->link);
    sum += find(root, 9);
    sum += chains(tree, 1);
    unions_and_bits(root, 3);
    unions_and_bits(root, 4);
    statics(3);
    sum += by_switch(tree, root, 0) + by_switch(tree, root, 3);
    sum += locals(3);
    sum += texts(bytes, text);
    return sum;
}

int main(void)
{
    struct tree *tree = make_tree(NULL);
    tree->parent = make_tree(tree);
    MAKES(lreg_args, "lreg_args");
    lreg_args *args = make(4, sizeof *args);
    MAKES(struct bytes, "bytes");
    struct bytes *bytes = make(1, sizeof *bytes);
    args[1].points = numbers;
    tree->root->link.next = &tree->root->left->link;
    tree->root->left->link.key = 5;
    tree->root->left->left = tree->root->left;
    tree->root->right->link.key = 9;
    forest = tree;
    know_tree(tree);
    know_tree(tree->parent);
    KNOW(args, 4, "-", "lreg_args");
    KNOW(bytes, 1, "-", "bytes");
    know(totals, sizeof *totals, 8, "totals", "long int");
    know(row_of, sizeof *row_of, 4, "row_of", "outer");
    know(numbers, sizeof *numbers, 64, "points", "int");
    know(&whole, sizeof whole, 1, "whole", "outer");
    know(&single, sizeof single, 1, "single", "long int");
    know(text, 1, sizeof text, "from", "char");
    know(&forest, sizeof forest, 1, "forest", "tree *");
    TRAP();
    long sum = work(tree, args, bytes);
    TRAP();
    tell_objects();
    tell_fields();
    tell_made();
    printf("sum %ld\n", sum + single);
    return 0;
}
