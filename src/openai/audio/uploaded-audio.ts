import { mayBeWav, plainWavSeconds, startOfWav, statedSeconds, wavHeadBytes } from "../../model-api/media/plain-wav.js";
import type { FormFile } from "../form/form-files.js";

/** The audio of a form. Its samples are not looked at before something has to be known of them. */
export class UploadedAudio {
  readonly bytes: number;
  /** What a WAV's head says; `undefined`: it is no plain WAV. */
  readonly statedSeconds: number | undefined;
  /** Let go of once it was measured. */
  #file: FormFile | undefined;
  #seconds: number | undefined;

  constructor(file: FormFile) {
    const { filename, type = "", content } = file;
    this.bytes = content.length;
    if (!mayBeWav(filename, type)) return;
    this.statedSeconds = statedSeconds(content.part(0, wavHeadBytes), content.length);
    if (this.statedSeconds !== undefined) this.#file = file;
  }

  /** How long it lasts. `undefined`: its bytes do not show it. */
  get seconds(): number | undefined {
    const content = this.#file?.content;
    this.#file = undefined;
    if (content !== undefined) this.#seconds = plainWavSeconds(content.part(0, startOfWav), content.length);
    return this.#seconds;
  }
}
