import { createParser, type ParseError } from "eventsource-parser";
import { TooLargeError } from "./too-large-error.js";

/** One server-sent event. */
export interface ServerSentEvent {
  data: string;
  event: string | undefined;
}

/** Frames bytes into server-sent events (WHATWG HTML, section 9.2), however they were split on the way. */
export interface EventReader {
  /**
   * @returns the events that have become complete.
   * @throws TooLargeError
   */
  read(bytes: Uint8Array): ServerSentEvent[];
  /** The last event, when the stream ended without the blank line behind it. */
  end(): ServerSentEvent[];
}

/** @param maxEventBytes - the most that an incomplete event may take up while its end is awaited, in characters. */
export function createEventReader(maxEventBytes: number): EventReader {
  const decoder = new TextDecoder();
  let events: ServerSentEvent[] = [];
  let failure: ParseError | undefined;
  const parser = createParser({
    maxBufferSize: maxEventBytes,
    onEvent: ({ data, event }) => events.push({ data, event }),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") failure = error;
    },
  });
  const feed = (text: string): ServerSentEvent[] => {
    parser.feed(text);
    if (failure !== undefined)
      throw new TooLargeError(`An event of it is over ${maxEventBytes} bytes (maxEventBytes).`, {
        cause: failure,
      });
    const ready = events;
    events = [];
    return ready;
  };
  return {
    read: (bytes) => feed(decoder.decode(bytes, { stream: true })),
    end: () => feed(`${decoder.decode()}\n\n`),
  };
}
