/**
 * When an answer is left before its end, what remains of it is read and thrown away for this long, in milliseconds, so
 * that the connection can be used again: a stream that was left at its last event is over within this time.
 */
export const lingerMs = 500;

/** The most bytes that are thrown away; a longer rest costs more than a new connection. */
export const lingerBytes = 64 * 1024;
