import { Buffer } from "node:buffer";

/** What a `Response` is made of whose body is there at once. */
export type KeptBody = Uint8Array | string;

/** What of a `Response` has to do with its body. Node's types declare it in a way that allows no other accessors. */
interface BodyOwner {
  readonly bodyUsed: boolean;
  readonly body: ReadableStream<Uint8Array> | null;
  clone(): Response;
  blob(): Promise<Blob>;
  formData(): Promise<FormData>;
  text(): Promise<string>;
  json(): Promise<unknown>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

type KeptResponseClass = new (body: KeptBody, init: ResponseInit) => Response;

/**
 * Makes a `Response` that answers from its own bytes when it is read as text, JSON or bytes. The runtime reads even those that
 * are there through a stream, which takes longer than the call. Everything else is the runtime's, its body too: hosts to which
 * the response is handed on read that past these methods.
 */
export function makesKeptResponses(): (body: KeptBody, init: ResponseInit) => Response {
  let made: { readonly base: typeof Response; readonly own: KeptResponseClass } | undefined;
  return (body, init) => {
    // Not before it is needed: to load the runtime's class takes a while. Hosts may put another in its place.
    if (made?.base !== Response) {
      made = { base: Response, own: keptResponseClass(Response as unknown as BodyOwnerClass) };
    }
    return new made.own(body, init);
  };
}

const decoder = new TextDecoder();

type BodyOwnerClass = new (body: KeptBody, init: ResponseInit) => BodyOwner;

function keptResponseClass(base: BodyOwnerClass): KeptResponseClass {
  const own = class extends base {
    /** `undefined` once the runtime's own body may have been touched, which then is the only truth. */
    #kept: KeptBody | undefined;
    #isTaken = false;

    constructor(body: KeptBody, init: ResponseInit) {
      super(body, init);
      this.#kept = body;
    }

    override get bodyUsed(): boolean {
      return this.#isTaken || super.bodyUsed;
    }

    override get body(): ReadableStream<Uint8Array> | null {
      this.#giveUp();
      return super.body;
    }

    override clone(): Response {
      this.#giveUp();
      return super.clone();
    }

    override blob(): Promise<Blob> {
      this.#giveUp();
      return super.blob();
    }

    override formData(): Promise<FormData> {
      this.#giveUp();
      return super.formData();
    }

    override async text(): Promise<string> {
      const bytes = this.#take();
      return bytes === undefined ? super.text() : decoder.decode(bytes);
    }

    override async json(): Promise<unknown> {
      const bytes = this.#take();
      return bytes === undefined ? super.json() : JSON.parse(decoder.decode(bytes));
    }

    override async arrayBuffer(): Promise<ArrayBuffer> {
      const bytes = this.#take();
      return bytes === undefined ? super.arrayBuffer() : new Uint8Array(bytes).buffer;
    }

    /** Newer runtimes have one of their own, which would read a body that was read. */
    async bytes(): Promise<Uint8Array> {
      return new Uint8Array(await this.arrayBuffer());
    }

    /** The body's bytes, for the one that may have them. */
    #take(): Uint8Array | undefined {
      const kept = this.#kept;
      this.#giveUp();
      if (kept === undefined) return undefined;
      this.#isTaken = true;
      return typeof kept === "string" ? Buffer.from(kept) : kept;
    }

    /** From here on, the runtime's own body counts. */
    #giveUp(): void {
      this.#kept = undefined;
      // A body that was read is used up, and locked, whoever asks.
      if (this.#isTaken && !super.bodyUsed) super.arrayBuffer().catch(() => {});
    }
  };
  return own as unknown as KeptResponseClass;
}
