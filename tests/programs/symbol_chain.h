/* What test_symbol.c shares with the modules that it loads. */
#ifndef SYMBOL_CHAIN_H
#define SYMBOL_CHAIN_H

typedef void chain_callback(void);

enum {
    CHAIN_PRIVATE,
    CHAIN_INNER,
    CHAIN_OUTER,
    CHAIN_MIDDLE,
    CHAIN_BEGIN,
    CHAIN_LAST,
    CHAIN_LINES
};

extern int chain_lines[CHAIN_LINES];
void chain_middle(chain_callback *take);
void chain_begin(chain_callback *take, int bytes);
void chain_last(chain_callback *leave);
void chain_behind(chain_callback *take);
void chain_recurse(chain_callback *take, int depth);

#endif
