import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makesKeptResponses } from "../../../../src/gateway/in-process/kept-response.js";

/** What can be done with a response, and what comes of it. */
const uses = {
  text: (response: Response) => response.text(),
  json: (response: Response) => response.json(),
  arrayBuffer: async (response: Response) => bytesOf(await response.arrayBuffer()),
  blob: async (response: Response) => bytesOf(await (await response.blob()).arrayBuffer()),
  formData: (response: Response) => response.formData(),
  bodyUsed: async (response: Response) => response.bodyUsed,
  bodyLocked: async (response: Response) => response.body?.locked,
  cloned: async (response: Response) => response.clone().text(),
  firstPiece: async (response: Response) => {
    const reader = response.body?.getReader();
    const first = await reader?.read();
    reader?.releaseLock();
    return first?.value && bytesOf(first.value);
  },
  wholeBody: async (response: Response) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of response.body ?? []) pieces.push(piece);
    return bytesOf(Buffer.concat(pieces));
  },
  cancelled: async (response: Response) => response.body?.cancel(),
  copied: async (response: Response) => new Response(response.body, response).text(),
};

type Use = keyof typeof uses;

function bytesOf(bytes: ArrayBuffer | Uint8Array): number[] {
  return [...new Uint8Array(bytes)];
}

/** Errors by their class alone: the runtime says more in them. */
async function outcome(use: Use, response: Response): Promise<unknown> {
  try {
    return { value: await uses[use](response) };
  } catch (error) {
    return { thrown: (error as Error).name };
  }
}

const bodies = fc.oneof(
  fc.json(),
  fc.string({ unit: "binary" }),
  fc.constant("\uFEFF{}"),
  fc.json().map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 40 }),
  // A view of a larger buffer, as a piece of what a socket has read.
  fc.uint8Array({ minLength: 8, maxLength: 40 }).map((bytes) => bytes.subarray(3, -2)),
);
const init = { status: 201, headers: { "content-type": "application/json", "x-request-id": "a" } };

const keptResponse = makesKeptResponses();

describe("a response whose body is kept", () => {
  it("does what the runtime's does, whatever is done with it in whatever order", async () => {
    const names = Object.keys(uses) as Use[];
    await fc.assert(
      fc.asyncProperty(bodies, fc.array(fc.constantFrom(...names), { maxLength: 4 }), async (body, steps) => {
        const own = keptResponse(body, init);
        const runtimes = new Response(body as ConstructorParameters<typeof Response>[0], init);
        for (const step of steps) {
          expect({ step, ...((await outcome(step, own)) as object) }).toEqual({
            step,
            ...((await outcome(step, runtimes)) as object),
          });
          expect(own.bodyUsed).toBe(runtimes.bodyUsed);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it("is read once, too, by the bytes() that newer runtimes have", async () => {
    const { Response: runtimes } = globalThis;
    class NewerResponse extends runtimes {
      async bytes(): Promise<Uint8Array> {
        return new Uint8Array(await runtimes.prototype.arrayBuffer.call(this));
      }
    }
    try {
      globalThis.Response = NewerResponse as typeof Response;
      const make = () => keptResponse("{}", init) as NewerResponse;
      const first = make();
      expect(bytesOf(await first.bytes())).toEqual(bytesOf(Buffer.from("{}")));
      await expect(first.text()).rejects.toThrow(TypeError);
      const second = make();
      expect(await second.text()).toBe("{}");
      await expect(second.bytes()).rejects.toThrow(TypeError);
    } finally {
      globalThis.Response = runtimes;
    }
  });

  it("is a Response, with its status and headers", () => {
    const response = keptResponse("{}", init);
    expect(response).toBeInstanceOf(Response);
    expect([response.status, response.ok, response.headers.get("x-request-id")]).toEqual([201, true, "a"]);
  });

  it("shares no memory with who reads it", async () => {
    const bytes = Buffer.from("abc");
    const taken = new Uint8Array(await keptResponse(bytes, init).arrayBuffer());
    taken.fill(0);
    expect(bytes.toString()).toBe("abc");
  });

  it("is of the class that the host has put in the place of the runtime's", () => {
    const { Response: runtimes } = globalThis;
    class HostsResponse extends runtimes {}
    try {
      globalThis.Response = HostsResponse as typeof Response;
      expect(keptResponse("{}", init)).toBeInstanceOf(HostsResponse);
    } finally {
      globalThis.Response = runtimes;
    }
    expect(keptResponse("{}", init)).not.toBeInstanceOf(HostsResponse);
  });
});
