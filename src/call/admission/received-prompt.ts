import type { PromptText } from "../../hooks/admission.js";
import type { PromptLayout } from "../../protocols/shared/prompt-layout.js";
import { findPromptTexts, type PromptSpan, promptText, replaceTexts } from "../../protocols/shared/prompt-texts.js";
import type { PayloadSeal } from "../../seal/payload-seal.js";
import { withoutByteOrderMark } from "../../wire/bytes.js";

/** Whose request it is, and what the thoughts in it are signed with. */
interface PromptSeal {
  readonly seal: PayloadSeal;
  readonly account: string;
}

/** The texts of a request that was parsed before. They are looked for when they are first needed. */
export class ReceivedPrompt {
  readonly #body: Uint8Array;
  readonly #layout: PromptLayout;
  readonly #seal: PromptSeal;
  #spans: readonly PromptSpan[] | undefined;
  #texts: readonly PromptText[] | undefined;

  constructor(body: Uint8Array, layout: PromptLayout, seal: PromptSeal) {
    this.#body = withoutByteOrderMark(body);
    this.#layout = layout;
    this.#seal = seal;
  }

  /** @throws GatewayError 400 when there are too many. */
  texts(): readonly PromptText[] {
    this.#texts ??= this.#found().map((span) => ({
      path: span.path,
      role: span.role,
      text: promptText(this.#body, span),
    }));
    return this.#texts;
  }

  /**
   * The request with other texts.
   * @returns `undefined` where they are the same.
   * @throws TypeError for a path that no text has; GatewayError as {@link texts}.
   */
  replace(texts: ReadonlyMap<string, string>): Uint8Array | undefined {
    const { seal, account } = this.#seal;
    const edited = replaceTexts(this.#body, this.#found(), texts, (json) => seal.write(account, json));
    return edited === this.#body ? undefined : edited;
  }

  #found(): readonly PromptSpan[] {
    const { seal, account } = this.#seal;
    this.#spans ??= findPromptTexts(this.#body, this.#layout, (text) => seal.open(account, text));
    return this.#spans;
  }
}
