/* service_notify.h: tells systemd how a service does (sd_notify(3)), without its library: a
 * datagram to the socket that NOTIFY_SOCKET names. Where there is none nothing is sent, and nothing
 * fails. */
#ifndef HEURT_CMD_SERVICE_NOTIFY_H
#define HEURT_CMD_SERVICE_NOTIFY_H

/* "READY=1\nSTATUS=…". */
void service__notify(const char *text);

#endif
