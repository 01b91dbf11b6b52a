import { Buffer } from "node:buffer";
import { StreamFault } from "../../errors/stream-fault.js";
import type { SpeechBounds } from "./speech-bounds.js";
import { SpeechProgress } from "./speech-progress.js";

const nothing = Buffer.alloc(0);

/** Passes the bytes of speech as they come. A break of them cannot be told, but by breaking off. */
export class SpeechBytes {
  readonly isBytes = true;
  readonly progress: SpeechProgress;
  readonly contentType: string;

  constructor(bounds: SpeechBounds, contentType: string) {
    this.progress = new SpeechProgress(bounds);
    this.contentType = contentType;
  }

  take(piece: Uint8Array): Uint8Array {
    this.progress.came(piece.length);
    return piece;
  }

  /** @throws StreamFault `incomplete` where there is no sound at all. */
  end(): Uint8Array {
    if (!this.progress.hasOutput) throw new StreamFault("incomplete");
    return nothing;
  }

  event(): never {
    throw new StreamFault("garbage");
  }

  whole(): never {
    throw new StreamFault("garbage");
  }

  keepAlive(): Uint8Array {
    return nothing;
  }

  fault(): Uint8Array {
    return nothing;
  }
}
