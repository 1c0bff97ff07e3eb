/*
 * main.c - the `symloader` command.
 *
 * Manual: docs/use/symloader.1.  This file only finds the command and calls its
 * function.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "converter/convert.h"
#include "daemon/daemon.h"

static const command_t commands[] = {
    { "load", "FILE|DIR...", "Compiles symbol files into the store", 1, -1,
      load_run, false },
    { "lookup", "NAME/ID [ADDR...|-]",
      "Looks up addresses of a module (default: from standard input)", 1, -1,
      lookup_run, false },
    { "dump", "NAME/ID|FILE",
      "Writes all symbols of a module, or of a symbol file", 1, 1, dump_run,
      true },
    { "export", "DIR", "Writes compiled modules as files, for another store", 1,
      1, export_run, false },
    { "atos", "-o PATH [ADDRESS...]",
      "Looks up addresses of a file, as Apple's atos does", 0, OPERANDS_OWN,
      atos_run, true },
    { "retrace", "MAPPING [TRACE|-]",
      "Gives stack traces of Java their original names and lines", 1, 2,
      retrace_run, true },
    { "symbolicate", "EVENT|REQUEST|-",
      "Symbolicates an event, as Sentry's servers do", 1, 1, symbolicate_run,
      true },
    { "walk", "FILE", "Walks the stacks of a minidump", 1, 1, walk_run, true },
    { "profile", "IN OUT",
      "Gives the addresses of a profile their functions and lines", 2, 2,
      profile_run, true },
    { "fileid", "FILE...", "Prints the ids by which profilers know executables",
      1, -1, fileid_run, true },
    { "push-symbols", "--server URL EXECUTABLE",
      "Sends the symbols of an executable to a server with Elastic's interface",
      1, 1, push_run, true },
    { "mirror", "REPOSITORY INDEX|DEBUGINFOD",
      "Sends a distribution's debug packages to a server with uploads", 1, 2,
      mirror_run, true },
    { "ls", "[PATTERN]", "Lists the modules in the store", 0, 1, ls_run,
      false },
    { "show", "NAME/ID", "Prints everything about one module", 1, 1, show_run,
      false },
    { "rm", "NAME/ID...", "Removes modules", 1, -1, rm_run, false },
    { "verify", "", "Checks every page and checksum of the store", 0, 0,
      verify_run, false },
    { "stat", "", "Prints sizes and readers of the store", 0, 0, stat_run,
      false },
    { "missing", "", "Lists the modules that requests did not get", 0, 0,
      missing_run, false },
    { "evict", "--to SIZE", "Drops the least recently used modules", 0, 0,
      evict_run, false },
    { "init", "", "Makes a store, or changes its quota and group", 0, 0,
      init_run, false },
    { "serve", "", "Runs the daemon that compiles what nginx fetches", 0, 0,
      serve_run, false },
    { NULL, NULL, NULL, 0, 0, NULL, false },
};


/* If a standard descriptor is closed, opens something in its place.  Otherwise
 * a file of the store would get its number, and messages for the terminal would
 * be written into that file. */
static void
open_standard_descriptors(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    } while (fd >= 0 && fd <= STDERR_FILENO);

    close(fd);
}


/* Flushes stdio's buffer (help, the lines of load).  A closed pipe is not a
 * failure. */
static int
flush_stdout(int code)
{
    if (fflush(stdout) == 0 || errno == EPIPE) {
        return code;
    }

    fprintf(stderr, "symloader: cannot write the output: %s\n",
            strerror(errno));
    return code == EXIT_FINE ? EXIT_OUTPUT : code;
}


int
main(int argc, char **argv)
{
    options_t options;

    if (argc == 2 + CONVERT_ARGUMENTS && strcmp(argv[1], CONVERT_ARGUMENT) == 0)
    {
        return convert_main(argv + 2);
    }

    open_standard_descriptors();
    /* write errors are handled where they occur */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);

    if (!options_parse(argc, argv, commands, &options)) {
        return EXIT_USAGE;
    }

    if (options.wants_version) {
        printf("symloader %s\n", SYMLOADER_VERSION);
        return flush_stdout(EXIT_FINE);
    }

    if (options.wants_help) {
        options_help(commands, options.command);
        return flush_stdout(EXIT_FINE);
    }

    return flush_stdout(options.command->run(&options));
}
