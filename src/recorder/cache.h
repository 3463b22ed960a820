/* cache.h: where heurt keeps what would take long to find out again. */
#ifndef HEURT_RECORDER_CACHE_H
#define HEURT_RECORDER_CACHE_H

/* The directory for one kind of things (it need not exist), free() it; NULL: nothing is to be kept.
 * $HEURT_CACHE, else $XDG_CACHE_HOME/heurt, else ~/.cache/heurt. */
char *cache__directory(const char *kind);

#endif
