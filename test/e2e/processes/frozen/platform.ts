import type { FakeRequest, FakeUpstream } from "../../../../src/testing.js";
import { postJson } from "../../../support/post-json.js";
import type { Random } from "../spending/random.js";
import { leftText, type PlannedCall } from "./call-plan.js";
import { FunctionInstance, type FunctionSettings } from "./function-instance.js";

/**
 * A host of functions. It freezes a process as soon as its response has ended, or its client has left, and the work has ended
 * that it was told of; it thaws it for the next request, and kills it after some.
 */
export class Platform {
  readonly #upstream: FakeUpstream;
  readonly #settings: FunctionSettings;
  readonly #random: Random;
  readonly #arrivals = new Map<string, () => void>();
  readonly #alive = new Set<FunctionInstance>();
  /** The processes that it has had. */
  readonly instances: FunctionInstance[] = [];
  /** The status of each call whose client has seen one. */
  readonly statuses = new Map<string, number>();

  constructor(upstream: FakeUpstream, settings: Omit<FunctionSettings, "upstream">, random: Random) {
    this.#upstream = upstream;
    this.#settings = { ...settings, upstream: upstream.url };
    this.#random = random;
  }

  /** Sends the calls to so many processes at once. Each has one request at a time. */
  async run(calls: readonly PlannedCall[], width: number): Promise<void> {
    const byId = new Map(calls.map((call) => [call.id, call]));
    this.#upstream.reply((request, response) => {
      this.#arrivals.get(idOf(request))?.();
      return byId.get(idOf(request))?.answer(request, response);
    });
    const waiting = [...calls];
    const runOne = async () => {
      let instance = await this.#start();
      let left = this.#lifetime();
      for (let call = waiting.shift(); call !== undefined; call = waiting.shift()) {
        if (left-- === 0) {
          await this.#kill(instance);
          instance = await this.#start();
          left = this.#lifetime();
        }
        await this.#call(instance, call);
      }
      await this.#kill(instance);
    };
    await Promise.all(Array.from({ length: width }, runOne));
  }

  /** For what is left of a test that failed. */
  async stop(): Promise<void> {
    await Promise.all([...this.#alive].map((instance) => this.#kill(instance)));
  }

  async #start(): Promise<FunctionInstance> {
    const instance = await FunctionInstance.start(this.#settings);
    this.instances.push(instance);
    this.#alive.add(instance);
    return instance;
  }

  async #kill(instance: FunctionInstance): Promise<void> {
    await instance.kill();
    this.#alive.delete(instance);
  }

  #lifetime(): number {
    return 8 + this.#random.below(5);
  }

  async #call(instance: FunctionInstance, call: PlannedCall): Promise<void> {
    const work = this.#settings.waits ? instance.workOf(call.id) : Promise.resolve();
    const arrived = new Promise<void>((resolve) => this.#arrivals.set(call.id, resolve));
    await Promise.race([this.#request(instance.thaw(), call, arrived), work.then(() => new Promise(() => {}))]);
    await work;
    instance.freeze();
  }

  /** Resolves when the client has all of its response, or has left. */
  async #request(url: string, { id, account, kind }: PlannedCall, arrived: Promise<void>): Promise<void> {
    const leaving = new AbortController();
    const body = {
      model: "acme/small",
      messages: [{ role: "user", content: "Hello!" }],
      user: id,
      stream: kind.endsWith("stream"),
    };
    const response = fetchOf(url, account, { body, id, signal: leaving.signal });
    if (kind === "left whole") {
      response.catch(() => {});
      await arrived;
    } else {
      const { status, body: stream } = await response;
      this.statuses.set(id, status);
      let text = "";
      for await (const piece of stream?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += piece;
        if (kind === "left stream" && text.includes(leftText.split(" ").at(-1) as string)) break;
      }
    }
    leaving.abort();
  }
}

interface Sent {
  readonly body: object;
  readonly id: string;
  readonly signal: AbortSignal;
}

function fetchOf(url: string, account: string, { body, id, signal }: Sent): Promise<Response> {
  return postJson(`${url}/v1/chat/completions`, `sk-${account}`, body, signal, { "x-call": id });
}

/** The upstream gets the client's `user`. */
function idOf(request: FakeRequest): string {
  return String(request.json.user);
}
