/**
 * When the reader discards a response before its end, the transport reads and throws away the rest for this long, in
 * milliseconds, so that the connection can be used again. A stream that was discarded at its last event ends within
 * this time.
 */
export const leftoverMs = 500;

/** The most bytes that are thrown away; a longer rest costs more than a new connection. */
export const leftoverBytes = 64 * 1024;
