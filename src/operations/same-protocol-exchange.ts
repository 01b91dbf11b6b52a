import type { ModelAnswer } from "../metering/model-answer.js";
import type { UsageCounts } from "../metering/usage-counts.js";
import type { ReceivedAnswer } from "../model-api/answer/received-answer.js";
import { type EstimateBounds, partialTokens } from "../model-api/media/token-estimate.js";
import { readWhole, type WholeReader } from "../openai/read-whole.js";
import { type Edited, piecesOfText, wholeText } from "../wire/edited-bytes.js";

/** What the exchanges share whose upstream speaks the client's protocol: the request is the client's own, edited. */
export abstract class SameProtocolExchange<Context extends EstimateBounds> implements WholeReader {
  readonly #sent: Edited;
  protected readonly context: Context;

  constructor(sent: Edited, context: Context) {
    this.#sent = sent;
    this.context = context;
  }

  abstract read(received: ReceivedAnswer): ModelAnswer | undefined;
  abstract refuse(received: ReceivedAnswer): never;

  get body(): Uint8Array {
    return wholeText(this.#sent);
  }

  get pieces(): readonly Uint8Array[] | undefined {
    return piecesOfText(this.#sent);
  }

  readWhole(bytes: Uint8Array): ModelAnswer | Promise<ModelAnswer> {
    return readWhole(bytes, this);
  }

  partialTokens(pieces: readonly Uint8Array[]): UsageCounts {
    return partialTokens(this.context, pieces);
  }
}
