import { requestBody } from "./bodies.mjs";

const small = requestBody({ bytes: 1024 });
const smallStream = requestBody({ bytes: 1024, stream: true });
const large = requestBody({ bytes: 200 * 1024, nonASCII: true });

/**
 * What is asked for. `answer` is the upstream's kind, `per` what the processor time is divided by, `seconds` how long a
 * round measures, `expected` what every answer has to be.
 */
export const workloads = [
  {
    name: "W1",
    title: "whole answer, 1 KB in, 1 KB out",
    answer: "whole",
    body: small,
    connections: 32,
    per: "request",
    seconds: 2,
    expected: { status: "200", bodyBytes: 900 },
  },
  {
    name: "W1s",
    title: "the same, one at a time",
    answer: "whole",
    body: small,
    connections: 1,
    // One at a time is too few to have the code compiled.
    warmUpConnections: 16,
    per: "request",
    seconds: 2,
    expected: { status: "200", bodyBytes: 900 },
    variants: ["floor", "floor-undici", "node"],
  },
  {
    name: "W2a",
    title: "200 events in one burst",
    answer: "burst",
    body: smallStream,
    connections: 32,
    per: "stream",
    seconds: 2,
    expected: { status: "200", bodyBytes: 40_000 },
  },
  {
    name: "W2b",
    title: "100 streams, 100 events a second each",
    answer: "paced",
    body: smallStream,
    connections: 100,
    per: "event",
    seconds: 4,
    expected: { status: "200", bodyBytes: 0, countEvents: true },
    endless: true,
  },
  {
    name: "W3",
    title: "200 KB in, with non-ASCII text",
    answer: "whole",
    body: large,
    connections: 16,
    per: "request",
    seconds: 2,
    expected: { status: "200", bodyBytes: 900 },
  },
  {
    name: "W4",
    title: "first byte of a stream, one at a time",
    answer: "first byte",
    body: smallStream,
    connections: 1,
    // One at a time is too few to have the code compiled.
    warmUpConnections: 16,
    per: "stream",
    seconds: 2,
    expected: { status: "200", bodyBytes: 2_000, firstByte: true },
  },
  {
    name: "W5",
    title: "500 open streams",
    answer: "open",
    body: smallStream,
    connections: 500,
    per: "open stream",
    expected: { status: "200", bodyBytes: 0, countEvents: true },
    endless: true,
    memory: true,
    eventsOfStream: 10,
  },
  {
    name: "W6",
    title: "1 KB request refused with 429",
    answer: "whole",
    body: small,
    connections: 32,
    per: "request",
    seconds: 2,
    expected: { status: "200", bodyBytes: 900 },
    // The floors answer as in W1: what a refusal is compared with.
    gate: {
      headers: { authorization: "Bearer sk-spent-0123456789abcdef" },
      expected: { status: "429", bodyBytes: 50 },
    },
    variants: ["floor", "floor-undici", "node", "fastify", "express-floor", "express", "fetch"],
  },
];
