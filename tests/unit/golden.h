/* golden.h: texts that are compared with files below tests/golden; HEURT_UPDATE_GOLDEN=1 writes
 * these anew (read them before they are committed). */
#ifndef HEURT_TESTS_GOLDEN_H
#define HEURT_TESTS_GOLDEN_H

/* name: "report/busy.txt". Fails the test when the text differs. Takes over text. */
void golden__assert(const char *name, char *text);

#endif
