#include "cmd/command.h"

static int run(int argc, char **argv)
{
    (void)argc, (void)argv;
    say("dump is still to be built");
    return EXIT_HEURT;
}

const struct command command_dump = {"dump", "", "dump", run};
