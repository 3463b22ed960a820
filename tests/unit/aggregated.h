/* aggregated.h: a trace of an aggregated run, for tests of its readers. */
#ifndef HEURT_TESTS_AGGREGATED_H
#define HEURT_TESTS_AGGREGATED_H

/* Makes the trace in directory, which is not packed, one of an aggregated run: of thread 0 of
 * process 0 the first folded_words words are told by records of every type: two classes, one of a
 * function with id HEURT_EVENT_FUNCTIONS and two arguments, of which a span is open. Returns 0 or
 * a negative errno. */
int aggregated__make(const char *directory, unsigned folded_words);

#endif
