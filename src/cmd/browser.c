#define NCURSES_WIDECHAR 1
#include "cmd/browser.h"

#include "base/memory.h"
#include "cmd/command.h"

#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#define ESCAPE_WAIT_MS 100 /* for the rest of a key's sequence, over a slow line, too */
#define ESCAPE 27

/* What a signal handler needs. */
static struct {
    volatile sig_atomic_t signal; /* that asked for the end; 0: none */
    struct termios before;
    char *leave; /* what brings the terminal back */
} terminal;

/* ---- whether -----------------------------------------------------------------------------------
 */

/* Whether terminals of that name can be drawn on. */
static bool can_draw(const char *name)
{
    int found;
    if (!name || !*name || strcmp(name, "dumb") == 0 ||
        setupterm(name, STDOUT_FILENO, &found) != OK)
        return false;
    bool can = cursor_address && clear_screen;
    del_curterm(cur_term);
    return can;
}

int browser__check(struct error *error)
{
    const char *name = getenv("TERM");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return error__set(error, -ENOTTY,
                          "heurt view needs a terminal; heurt report prints the same findings");
    if (!can_draw(name))
        return error__set(error, -ENOTTY,
                          "heurt view cannot draw on this terminal (TERM=%.40s); heurt report "
                          "prints the same findings",
                          name ? name : "");
    return 0;
}

/* ---- signals --------------------------------------------------------------------------------- */

static void note_signal(int number)
{
    terminal.signal = number;
}

/* Of a crash: only calls that a handler may make. */
static void restore_and_crash(int number)
{
    size_t bytes = strlen(terminal.leave);
    if (write(STDOUT_FILENO, terminal.leave, bytes) == (ssize_t)bytes)
        tcsetattr(STDIN_FILENO, TCSANOW, &terminal.before);
    raise(number); /* SA_RESETHAND */
}

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static const int crashing[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* They come while a key is waited for, and only then; what is to be unblocked then is in *open. */
static void take_signals(sigset_t *open)
{
    sigset_t held;
    sigemptyset(&held);
    for (size_t i = 0; i < COUNT(ending); i++) {
        sigaction(ending[i], &(struct sigaction){.sa_handler = note_signal}, NULL);
        sigaddset(&held, ending[i]);
    }
    sigaddset(&held, SIGWINCH);
    for (size_t i = 0; i < COUNT(crashing); i++)
        sigaction(crashing[i],
                  &(struct sigaction){.sa_handler = restore_and_crash, .sa_flags = SA_RESETHAND},
                  NULL);
    sigprocmask(SIG_BLOCK, &held, open);
}

static void give_signals_back(const sigset_t *open)
{
    for (size_t i = 0; i < COUNT(ending); i++)
        signal(ending[i], SIG_DFL);
    for (size_t i = 0; i < COUNT(crashing); i++)
        signal(crashing[i], SIG_DFL);
    sigprocmask(SIG_SETMASK, open, NULL);
    if (terminal.signal)
        raise(terminal.signal);
}

/* ---- the screen ------------------------------------------------------------------------------ */

static const char *or_nothing(const char *sequence)
{
    return sequence ? sequence : "";
}

/* NULL: it cannot be used. */
static SCREEN *begin_screen(void)
{
    tcgetattr(STDIN_FILENO, &terminal.before);
    set_escdelay(ESCAPE_WAIT_MS);
    SCREEN *screen = newterm(NULL, stdout, stdin);
    if (!screen)
        return NULL;
    terminal.leave = memory__format("%s%s%s", or_nothing(exit_attribute_mode),
                                    or_nothing(cursor_normal), or_nothing(exit_ca_mode));
    if (terminal__colour() && has_colors()) {
        start_color();
        use_default_colors();
        for (short colour = 1; colour < 8; colour++)
            init_pair(colour, colour, -1);
    }
    cbreak();
    noecho();
    nonl();
    curs_set(0);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    return screen;
}

static void end_screen(SCREEN *screen)
{
    endwin();
    delscreen(screen);
    tcsetattr(STDIN_FILENO, TCSANOW, &terminal.before);
}

/* What a sequence that selects colours asks for, from behind its '['. */
static attr_t attributes_after(const char *at, attr_t attributes)
{
    while (*at && *at != 'm') {
        unsigned long code = strtoul(at, (char **)&at, 10);
        if (code == 0)
            attributes = A_NORMAL;
        else if (code == 1)
            attributes |= A_BOLD;
        else if (code == 2)
            attributes |= A_DIM;
        else if (code >= 31 && code <= 37)
            attributes |= COLOR_PAIR(code - 30);
        at += *at == ';';
        if (*at != 'm' && !(*at >= '0' && *at <= '9'))
            break;
    }
    return attributes;
}

/* The next character, and how many bytes it has; what is none is '?'. */
static wchar_t character_at(const char *text, size_t *bytes, bool unicode)
{
    unsigned char first = (unsigned char)*text;
    size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4, i = 1;
    wchar_t point = first < 0x80 ? first : first & (0xff >> (length + 1));
    for (; i < length && (text[i] & 0xc0) == 0x80; i++)
        point = point << 6 | (text[i] & 0x3f);
    *bytes = i;
    return i < length || point < 0x20 || (point > 0x7e && (!unicode || wcwidth(point) < 0)) ? L'?'
                                                                                            : point;
}

static void put_row(void *screen, unsigned row, const char *text, bool is_marked)
{
    attr_t attributes = A_NORMAL;
    int column = 0, end = getmaxx(stdscr);
    bool unicode = *(const bool *)screen;
    wmove(stdscr, (int)row, 0);
    wclrtoeol(stdscr);
    for (size_t bytes; *text; text += bytes) {
        if (text[0] == ESCAPE && text[1] == '[') {
            attributes = attributes_after(text + 2, attributes);
            bytes = strcspn(text, "m") + 1;
            continue;
        }
        wchar_t character[2] = {character_at(text, &bytes, unicode), 0};
        int width = wcwidth(character[0]);
        if (column + width > end)
            break;
        attrset(attributes | (is_marked ? A_REVERSE : A_NORMAL));
        mvaddwstr((int)row, column, character);
        column += width;
    }
    attrset(A_NORMAL);
}

static void draw(const struct view *view)
{
    bool unicode = terminal__unicode();
    view__draw(view, put_row, &unicode);
    refresh();
}

/* ---- keys ------------------------------------------------------------------------------------ */

static uint32_t key_of(wint_t code, int type)
{
    static const struct {
        wint_t code;
        uint32_t key;
    } keys[] = {{KEY_UP, VIEW_KEY_UP},
                {KEY_DOWN, VIEW_KEY_DOWN},
                {KEY_LEFT, VIEW_KEY_LEFT},
                {KEY_RIGHT, VIEW_KEY_RIGHT},
                {KEY_PPAGE, VIEW_KEY_PAGE_UP},
                {KEY_NPAGE, VIEW_KEY_PAGE_DOWN},
                {KEY_HOME, VIEW_KEY_HOME},
                {KEY_END, VIEW_KEY_END},
                {KEY_BACKSPACE, VIEW_KEY_BACKSPACE},
                {KEY_ENTER, '\n'}};
    if (type != KEY_CODE_YES)
        return code == '\r'                   ? '\n'
               : code == 0x7f || code == '\b' ? (uint32_t)VIEW_KEY_BACKSPACE
               : code == 6                    ? (uint32_t)VIEW_KEY_PAGE_DOWN /* ^F */
               : code == 2                    ? (uint32_t)VIEW_KEY_PAGE_UP   /* ^B */
                                              : (uint32_t)code;
    if (code >= KEY_F(1) && code <= KEY_F(10))
        return VIEW_KEY_F1 + (code - KEY_F(1));
    for (size_t i = 0; i < COUNT(keys); i++)
        if (keys[i].code == code)
            return keys[i].key;
    return 0;
}

/* Takes all that was typed before anything is drawn. False: the user has left. */
static bool take_keys(struct view *view)
{
    wint_t code;
    for (int type; (type = get_wch(&code)) != ERR;) {
        if (type == KEY_CODE_YES && code == KEY_RESIZE)
            view__resize(view, (unsigned)LINES, (unsigned)COLS);
        else if (!view__key(view, key_of(code, type)))
            return false;
    }
    return true;
}

static void run(struct view *view, const sigset_t *open)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    view__resize(view, (unsigned)LINES, (unsigned)COLS);
    while (take_keys(view) && !terminal.signal) {
        draw(view);
        if (ppoll(&input, 1, NULL, open) < 0 && errno != EINTR)
            return;
        if (input.revents & (POLLHUP | POLLERR | POLLNVAL)) /* the terminal is gone */
            return;
        input.revents = 0;
    }
}

int browser__run(struct view *view, struct error *error)
{
    sigset_t open;
    SCREEN *screen = begin_screen();
    if (!screen)
        return error__set(error, -ENOTTY,
                          "the terminal cannot be used: heurt report prints the "
                          "same findings");
    take_signals(&open);
    run(view, &open);
    end_screen(screen);
    give_signals_back(&open);
    free(terminal.leave);
    return 0;
}
