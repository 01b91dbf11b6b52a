import type { PromptText } from "../../hooks/incoming-call.js";
import { findPromptTexts, type PromptSpan } from "../../operations/prompt-texts/find-prompt-texts.js";
import type { PromptLayout } from "../../operations/prompt-texts/prompt-layout.js";
import { replaceTexts } from "../../operations/prompt-texts/replace-texts.js";
import { withoutByteOrderMark } from "../../wire/byte-order-mark.js";
import { valueAt } from "../../wire/json-members.js";

/** The texts of a request that was parsed before. They are looked for when they are first needed. */
export class ReceivedPrompt {
  readonly #body: Uint8Array;
  readonly #layout: PromptLayout;
  #spans: readonly PromptSpan[] | undefined;
  #texts: readonly PromptText[] | undefined;

  constructor(body: Uint8Array, layout: PromptLayout) {
    this.#body = withoutByteOrderMark(body);
    this.#layout = layout;
  }

  /** @throws GatewayError 400 when there are too many. */
  texts(): readonly PromptText[] {
    this.#texts ??= this.#found().map(({ path, role, start, end }) => ({
      path,
      role,
      text: String(valueAt(this.#body, { start, end })),
    }));
    return this.#texts;
  }

  /**
   * The request with other texts.
   * @returns `undefined` where they are the same.
   * @throws TypeError for a path that no text has; GatewayError as {@link texts}.
   */
  replace(texts: ReadonlyMap<string, string>): Uint8Array | undefined {
    const edited = replaceTexts(this.#body, this.#found(), texts);
    return edited === this.#body ? undefined : edited;
  }

  #found(): readonly PromptSpan[] {
    this.#spans ??= findPromptTexts(this.#body, this.#layout);
    return this.#spans;
  }
}
