/* browser.h: a view (present/view/view.h) on the terminal, with ncursesw.
 *
 * In goes a view, whose rows are drawn and to whom keys are told until the user leaves; out comes
 * an exit status. The terminal is as it was when browser__run returns, and when a signal ends the
 * process in it. Once a process; one thread. It is the only file that knows of curses. */
#ifndef HEURT_CMD_BROWSER_H
#define HEURT_CMD_BROWSER_H

#include "base/error.h"
#include "present/view/view.h"

/* Whether stdin and stdout are a terminal on which a screen can be drawn. 0, or negative and a
 * sentence. */
int browser__check(struct error *error);
/* 0; or negative and a sentence. A signal that came from outside is raised again afterwards. */
int browser__run(struct view *view, struct error *error);

#endif
