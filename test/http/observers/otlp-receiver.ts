import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** A span as OTLP's JSON has it. */
interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { key: string; value: Record<string, unknown> }[];
  readonly events?: readonly unknown[];
  readonly status: { code?: number; message?: string };
}

interface OtlpTraces {
  readonly resourceSpans: readonly { scopeSpans: readonly { spans: readonly OtlpSpan[] }[] }[];
}

/** A span as it was received. */
export interface ReceivedSpan {
  readonly name: string;
  readonly kind: "internal" | "server" | "client";
  /** The name of the span above it; `undefined`: there is none. */
  readonly parent: string | undefined;
  readonly spanId: string;
  readonly traceId: string;
  readonly isError: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Epoch nanoseconds. */
  readonly from: bigint;
  readonly to: bigint;
}

/** A collector of traces on loopback, as far as OTLP/HTTP with JSON goes. */
export interface OtlpReceiver {
  readonly url: string;
  /** All that has come, as it came. */
  readonly text: () => string;
  /** All spans that have come, in the order of their beginnings. */
  readonly spans: () => readonly ReceivedSpan[];
  close(): Promise<void>;
}

const kinds = ["internal", "internal", "server", "client"] as const;

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    void read(request).then((body) => {
      const isTraces = request.method === "POST" && request.url === "/v1/traces";
      const isJson = request.headers["content-type"]?.startsWith("application/json") === true;
      if (isTraces && isJson) bodies.push(body);
      response.writeHead(isTraces && isJson ? 200 : 400, { "content-type": "application/json" }).end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    text: () => bodies.join("\n"),
    spans: () => received(bodies.flatMap(spansOf)),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function read(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

function spansOf(body: string): readonly OtlpSpan[] {
  const { resourceSpans } = JSON.parse(body) as OtlpTraces;
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

function received(spans: readonly OtlpSpan[]): ReceivedSpan[] {
  const names = new Map(spans.map(({ spanId, name }) => [spanId, name]));
  return spans
    .map(
      (span): ReceivedSpan => ({
        name: span.name,
        kind: kinds[span.kind] ?? "internal",
        parent: span.parentSpanId && (names.get(span.parentSpanId) ?? "not received"),
        spanId: span.spanId,
        traceId: span.traceId,
        isError: span.status.code === 2,
        attributes: Object.fromEntries(span.attributes.map(({ key, value }) => [key, plainValue(value)])),
        from: BigInt(span.startTimeUnixNano),
        to: BigInt(span.endTimeUnixNano),
      }),
    )
    .sort((one, other) => Number(one.from - other.from));
}

/** In OTLP's JSON, a value stands under its type, and whole numbers may be strings. */
function plainValue(value: Record<string, unknown>): unknown {
  const [[type, plain] = []] = Object.entries(value);
  if (type === "arrayValue") return (plain as { values: Record<string, unknown>[] }).values.map(plainValue);
  return type === "intValue" ? Number(plain) : plain;
}
