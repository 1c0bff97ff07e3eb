/*
 * client.h - a client of crash reports, which the program that crashes starts.
 */
#ifndef CRASH_CLIENT_H
#define CRASH_CLIENT_H

void crash_client_start(char **argv);

#endif
