import type { Warn } from "../events/warning.js";
import type { GatewayRequest, WaitUntil } from "../http/message.js";
import { callHook } from "../runtime/host-code.js";

/** By what a request's work is known. */
export interface IdsOfRequest {
  readonly requestId: string;
  readonly callId: string;
}

export interface HostWaitOptions {
  /** Of the options. It goes before the host's own. */
  readonly waitUntil?: WaitUntil | undefined;
  /** Resolves when nothing of an ended request waits to be written. Must not reject. */
  readonly written: (ids: IdsOfRequest) => Promise<void>;
  readonly warnOnce: Warn;
}

/** Lets hosts that end with their responses wait for what a request leaves behind. */
export class HostWait {
  readonly #options: HostWaitOptions;

  constructor(options: HostWaitOptions) {
    this.#options = options;
  }

  /** A request begins. @returns what is to be called when it has ended; `undefined`: its host does not wait. */
  begin(request: GatewayRequest, ids: IdsOfRequest): (() => void) | undefined {
    const waitUntil = this.#options.waitUntil ?? request.waitUntil;
    return waitUntil && this.#beginFor(waitUntil, ids);
  }

  #beginFor(waitUntil: WaitUntil, ids: IdsOfRequest): () => void {
    const { written, warnOnce } = this.#options;
    let ended = (): void => {};
    const work = new Promise<void>((resolve) => {
      ended = resolve;
    }).then(() => written(ids));
    callHook(
      () => waitUntil(work),
      (cause) => {
        const message = "waitUntil failed: what a request leaves behind may be lost when its host ends.";
        warnOnce({ code: "hook_failed", message, cause });
      },
    );
    return ended;
  }
}
