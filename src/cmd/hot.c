#include "cmd/command.h"

static int run(int argc, char **argv)
{
    (void)argc, (void)argv;
    say("hot is still to be built");
    return EXIT_HEURT;
}

const struct command command_hot = {"hot", "", "hot", run};
