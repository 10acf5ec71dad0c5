/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "command.h"

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGWINCH };
#define SIGNALS (sizeof(signals) / sizeof(signals[0]))

static volatile sig_atomic_t ended_by; /* a signal; 0: none */
static struct termios usual;
static struct sigaction before[SIGNALS];
static bool has_keys;

bool terminal_takes_codes(int fd)
{
    const char *kind = getenv("TERM");

    return isatty(fd) && kind && *kind && strcmp(kind, "dumb") != 0;
}

bool terminal_has_unicode(void)
{
    static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };

    for (size_t i = 0; i < 3; i++) {
        const char *locale = getenv(variables[i]);

        if (locale && *locale)
            return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
    }
    return false;
}

/* https://no-color.org */
static bool has_colours(void)
{
    const char *without = getenv("NO_COLOR");

    return terminal_takes_codes(STDOUT_FILENO) && !(without && *without);
}

void terminal_style(enum terminal_style style)
{
    static const char *const codes[] = { "\033[0m", "\033[1m", "\033[32m", "\033[33m", "\033[31m" };

    if (has_colours())
        fputs(codes[style], stdout);
}

/* Words */

static enum terminal_style style_of(const char *word, size_t length)
{
    static const struct {
        const char *word;
        enum terminal_style style;
    } words[] = { { "ok", STYLE_GOOD },           { "complete", STYLE_GOOD },
                  { "faster", STYLE_GOOD },       { "warn", STYLE_WARNING },
                  { "sampled", STYLE_GOOD },      { "incomplete", STYLE_WARNING },
                  { "no_device", STYLE_WARNING }, { "fail", STYLE_BAD },
                  { "dead", STYLE_BAD },          { "slower", STYLE_BAD },
                  { "unreadable", STYLE_BAD } };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strlen(words[i].word) == length && strncmp(words[i].word, word, length) == 0)
            return words[i].style;
    return STYLE_NONE;
}

static void print_word(const char *word, size_t length)
{
    enum terminal_style style = style_of(word, length);

    if (style != STYLE_NONE)
        terminal_style(style);
    print("%.*s", (int)length, word);
    if (style != STYLE_NONE)
        terminal_style(STYLE_NONE);
}

void terminal_print_word(const char *word)
{
    print_word(word, strlen(word));
}

void terminal_print_words(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";

    while (has_colours() && *text) {
        size_t length = strspn(text, letters), rest = strcspn(text + length, letters);

        print_word(text, length);
        print("%.*s", (int)rest, text + length);
        text += length + rest;
    }
    print("%s", text);
}

/* The screen */

static void note_signal(int number)
{
    if (number != SIGWINCH) /* which only ends the wait */
        ended_by = number;
}

void terminal_open_screen(void)
{
    struct sigaction action = { .sa_handler = note_signal };
    struct termios keys;

    has_keys = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &usual) == 0;
    if (has_keys) {
        keys = usual;
        keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        tcsetattr(STDIN_FILENO, TCSANOW, &keys);
    }
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &action, &before[i]);
    fputs("\033[?1049h\033[?25l\033[?7l", stdout);
}

void terminal_close_screen(void)
{
    fputs("\033[?7h\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    if (has_keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &usual);
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
    if (ended_by)
        raise(ended_by);
}

void terminal_begin_frame(size_t *rows, size_t *columns)
{
    struct winsize size;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col;

    *rows = known ? size.ws_row : 24;
    *columns = known && size.ws_col >= 60 ? size.ws_col : known ? 60 : 80;
    fputs("\033[H\033[J", stdout);
}

enum terminal_event terminal_wait(int milliseconds)
{
    struct pollfd input = { STDIN_FILENO, POLLIN, 0 };
    int ready = poll(&input, has_keys, milliseconds);
    char key = 0;

    if (ended_by || (ready > 0 && (read(STDIN_FILENO, &key, 1) <= 0 || key == 'q' || key == 'Q')))
        return EVENT_QUIT;
    return ready < 0 && errno == EINTR ? EVENT_RESIZE : EVENT_TIMEOUT;
}
