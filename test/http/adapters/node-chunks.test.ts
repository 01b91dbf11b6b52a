import { createServer, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { type ChunkSink, makeChunkSink } from "../../../src/adapters/node-stream.js";
import { openRaw } from "../../support/adapters/raw-connection.js";

const head = { "content-type": "text/plain" };

/** Answers one request by what it is given, and collects what the client gets, behind the headers. */
async function answer(
  write: (sink: ChunkSink, res: ServerResponse) => void,
  { version = "1.1", prepare = () => {} }: { version?: string; prepare?: (res: ServerResponse) => void } = {},
): Promise<string> {
  const server = createServer((_req, res) => {
    prepare(res);
    res.on("error", () => {});
    res.writeHead(200, head);
    res.write("first,");
    // In a tick of its own, as any piece but the first.
    setImmediate(() => {
      write(makeChunkSink(res), res);
      res.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const connection = await openRaw(`http://127.0.0.1:${port}`);
  connection.send(`GET / HTTP/${version}`, "host: a", "connection: close", "", "");
  const received = await connection.closed;
  return received.slice(received.indexOf("\r\n\r\n") + 4);
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

it("frames a piece as a chunk, in the order of all that is written", async () => {
  const long = "x".repeat(5000);
  const received = await answer((sink, res) => {
    sink.write(bytes("second,"));
    sink.write(bytes(long));
    res.write("third,");
    sink.write(bytes("größer"));
  });
  expect(Buffer.from(received, "latin1").toString()).toBe(
    `6\r\nfirst,\r\n7\r\nsecond,\r\n1388\r\n${long}\r\n6\r\nthird,\r\n8\r\ngrößer\r\n0\r\n\r\n`,
  );
});

it("waits for what else comes in the same tick, so that all of it leaves in one write", async () => {
  let corked = 0;
  await answer((sink, res) => {
    sink.write(bytes("second"));
    corked = res.socket?.writableCorked ?? 0;
  });
  expect(corked).toBe(1);
});

it("passes by no middleware that has replaced the response's own method", async () => {
  const seen: string[] = [];
  const received = await answer((sink) => sink.write(bytes("second")), {
    prepare: (res) => {
      const write = res.write.bind(res) as (piece: string | Uint8Array) => boolean;
      res.write = (piece: string | Uint8Array) => {
        seen.push(String(Buffer.from(piece as Uint8Array)));
        return write(String(Buffer.from(piece as Uint8Array)).toUpperCase());
      };
    },
  });
  expect(seen).toEqual(["first,", "second"]);
  expect(received).toBe("6\r\nFIRST,\r\n6\r\nSECOND\r\n0\r\n\r\n");
});

it("passes by no method that stands in for Node's in all responses", async () => {
  const original = ServerResponse.prototype.write;
  let seen = 0;
  onTestFinished(() => {
    // Node's own is that of the class above.
    Reflect.deleteProperty(ServerResponse.prototype, "write");
  });
  ServerResponse.prototype.write = function (this: ServerResponse, ...given: unknown[]) {
    seen++;
    return Reflect.apply(original, this, given);
  } as typeof original;
  await answer((sink) => sink.write(bytes("second")));
  expect(seen).toBe(2);
});

it("does not take an empty piece for the end", async () => {
  const received = await answer((sink) => {
    sink.write(new Uint8Array(0));
    sink.write(bytes("second"));
  });
  expect(received).toBe("6\r\nfirst,\r\n6\r\nsecond\r\n0\r\n\r\n");
});

it("keeps the order of what is written while the response is corked", async () => {
  const received = await answer((sink, res) => {
    res.cork();
    res.write("one,");
    sink.write(bytes("two,"));
    res.uncork();
    sink.write(bytes("three"));
  });
  // Newer versions of Node make one chunk of what was corked.
  expect([
    "6\r\nfirst,\r\n4\r\none,\r\n4\r\ntwo,\r\n5\r\nthree\r\n0\r\n\r\n",
    "6\r\nfirst,\r\n8\r\none,two,\r\n5\r\nthree\r\n0\r\n\r\n",
  ]).toContain(received);
});

it("leaves a connection alone that the host has ended", async () => {
  const errors: unknown[] = [];
  const received = await answer(
    (sink, res) => {
      res.socket?.end();
      sink.write(bytes("too late"));
    },
    { prepare: (res) => res.socket?.on("error", (error) => errors.push(error)) },
  );
  expect(errors).toEqual([]);
  expect(received).toBe("6\r\nfirst,\r\n");
});

it("frames nothing for a client of HTTP/1.0", async () => {
  expect(await answer((sink) => sink.write(bytes("second")), { version: "1.0" })).toBe("first,second");
});

it("writes nothing behind the end of a response that the host has ended", async () => {
  const received = await answer((sink, res) => {
    res.end("end");
    sink.write(bytes("too late"));
  });
  expect(received).toBe("6\r\nfirst,\r\n3\r\nend\r\n0\r\n\r\n");
});

it("says when the connection is full, and when it has drained", async () => {
  const piece = bytes("x".repeat(1000));
  let written = 0;
  let drained = false;
  const received = await answer((sink, res) => {
    const end = res.end.bind(res);
    res.end = () => res;
    const fill = () => {
      while (written < 200_000) {
        written += piece.length;
        if (!sink.write(piece)) {
          sink.on("drain", onDrain);
          return;
        }
      }
      end();
    };
    const onDrain = () => {
      drained = true;
      sink.off("drain", onDrain);
      fill();
    };
    fill();
  });
  expect(drained).toBe(true);
  expect(received.length).toBeGreaterThan(200_000);
});

it.each([1000, 5000])(
  "says when there is room in a response that was corked, for pieces of %s bytes",
  async (length) => {
    const piece = bytes("x".repeat(length));
    let written = 0;
    const received = await answer((sink, res) => {
      const end = res.end.bind(res);
      res.end = () => res;
      res.cork();
      do written += piece.length;
      while (sink.write(piece));
      const onDrain = () => {
        sink.off("drain", onDrain);
        sink.write(bytes("last"));
        end();
      };
      sink.on("drain", onDrain);
      setImmediate(() => res.uncork());
    });
    expect(received).toMatch(/x\r\n4\r\nlast\r\n0\r\n\r\n$/);
    expect(received.match(/x/g)).toHaveLength(written);
  },
);
