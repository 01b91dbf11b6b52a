import { createParser, type ParseError } from "eventsource-parser";
import { TooLargeError } from "./bytes.js";

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

/** So many lines between two events may be none of the format's: each takes microseconds. */
const mostOddLines = 1000;

/** @param maxEventBytes - the most that an incomplete event may take up while its end is awaited, in characters. */
export function createEventReader(maxEventBytes: number): EventReader {
  const decoder = new TextDecoder();
  let events: ServerSentEvent[] = [];
  let failure: ParseError | undefined;
  let oddLines = 0;
  const parser = createParser({
    maxBufferSize: maxEventBytes,
    onEvent: ({ data, event }) => {
      oddLines = 0;
      events.push({ data, event });
    },
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") failure = error;
      else if (++oddLines > mostOddLines)
        throw new Error(`Over ${mostOddLines} of its lines are none of an event stream.`);
    },
  });
  let isAfterReturn = false;
  // The parser searches all that is left of a piece for either end of each line.
  const withNewlines = (text: string): string => {
    if (text === "" || (!isAfterReturn && !text.includes("\r"))) return text;
    const rest = isAfterReturn && text.startsWith("\n") ? text.slice(1) : text;
    isAfterReturn = text.endsWith("\r");
    return rest.replace(/\r\n?/g, "\n");
  };
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
    read: (bytes) => feed(withNewlines(decoder.decode(bytes, { stream: true }))),
    end: () => feed(withNewlines(`${decoder.decode()}\n\n`)),
  };
}
