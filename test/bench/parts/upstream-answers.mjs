import { streamEvents, wholeAnswers } from "./bodies.mjs";

const commonHeaders = [
  "date: Sun, 15 Jun 2025 12:00:00 GMT",
  "openai-organization: bench",
  "openai-processing-ms: 412",
  "openai-version: 2020-10-01",
  "x-ratelimit-limit-requests: 10000",
  "x-ratelimit-remaining-requests: 9999",
  "x-request-id: req_0123456789abcdef0123456789abcdef",
  "connection: keep-alive",
];
const lastChunk = Buffer.from("0\r\n\r\n");
const eventsOfBurst = 200;
const tickMs = 1;
const ticksPerEvent = 10;

/** What the upstream does with each request, by kind. All bytes are made beforehand. */
export const answerers = {
  whole: answerWhole,
  burst: answerBurst,
  paced: answerPaced,
  "first byte": answerFirstByte,
  open: answerOpen,
};

function answerWhole() {
  const answers = wholeAnswers({ bytes: 1024, count: 61 }).map((body) =>
    Buffer.concat([head([`content-length: ${body.length}`, "content-type: application/json"]), body]),
  );
  let answered = 0;
  return (socket) => socket.write(answers[answered++ % answers.length]);
}

/** Everything at once, each event its own HTTP chunk. */
function answerBurst() {
  const text = Array.from({ length: eventsOfBurst - 4 }, (_, index) => textEvent(index));
  const answer = Buffer.concat([
    streamHead(),
    ...chunks([streamEvents.first, ...text, ...streamEvents.last]),
    lastChunk,
  ]);
  return (socket) => socket.write(answer);
}

/**
 * An event every ten milliseconds, until the client leaves. One clock for all streams: with a timer for each, they would
 * drift together over time, and the gateway would find more and more of them ready at once.
 */
function answerPaced() {
  const beginning = Buffer.concat([streamHead(), chunk(streamEvents.first)]);
  const events = streamEvents.text.map(chunk);
  const slots = Array.from({ length: ticksPerEvent }, () => new Set());
  const started = performance.now();
  let joined = 0;
  let ticked = 0;
  setInterval(() => {
    const due = Math.floor((performance.now() - started) / tickMs);
    while (ticked < due) {
      for (const socket of slots[ticked % ticksPerEvent]) socket.write(events[ticked % events.length]);
      ticked++;
    }
  }, tickMs);
  return (socket) => {
    const slot = slots[joined++ % ticksPerEvent];
    socket.write(beginning);
    slot.add(socket);
    socket.once("close", () => slot.delete(socket));
  };
}

/** The first event with the head, the rest right behind it, so that the connection is soon free again. */
function answerFirstByte() {
  const beginning = Buffer.concat([streamHead(), chunk(streamEvents.first)]);
  const text = Array.from({ length: 8 }, (_, index) => textEvent(index));
  const rest = Buffer.concat([...chunks([...text, ...streamEvents.last]), lastChunk]);
  return (socket) => {
    socket.write(beginning);
    setImmediate(() => socket.write(rest));
  };
}

/** Ten events, then silence. */
function answerOpen() {
  const text = Array.from({ length: 9 }, (_, index) => textEvent(index));
  const answer = Buffer.concat([streamHead(), ...chunks([streamEvents.first, ...text])]);
  return (socket) => socket.write(answer);
}

function textEvent(index) {
  return streamEvents.text[index % streamEvents.text.length];
}

function streamHead() {
  return head(["content-type: text/event-stream; charset=utf-8", "transfer-encoding: chunked"]);
}

function head(lines) {
  return Buffer.from(`HTTP/1.1 200 OK\r\n${[...commonHeaders, ...lines].join("\r\n")}\r\n\r\n`);
}

function chunks(events) {
  return events.map(chunk);
}

function chunk(event) {
  return Buffer.concat([Buffer.from(`${event.length.toString(16)}\r\n`), event, Buffer.from("\r\n")]);
}
