import { ownId } from "../../model-api/answer/answer-context.js";
import type { Dialect } from "../../model-api/dialect.js";
import type { NativeResponseContext } from "../../openai/responses/native/native-response.js";
import type { UpstreamSecrets } from "../../redaction/upstream-secrets.js";
import { calledName } from "../called-name.js";
import type { AttemptFacts } from "../operation.js";
import type { ResponsesExchangeParts } from "./responses-exchange-parts.js";

/** What a response of a server of the same API is read with. The prompt is counted where the server reports no usage. */
export class NativeContext implements NativeResponseContext {
  readonly model: string;
  readonly upstreamModel: string;
  readonly outputCap: number;
  readonly promptParam = "input";
  readonly startedAt: number;
  readonly dialect: Dialect | undefined;
  readonly secrets: (() => UpstreamSecrets) | undefined;
  readonly responseId: string;
  readonly createdAt: number;
  readonly previousResponseId: string | undefined;
  readonly isStored: boolean;
  readonly #attempt: AttemptFacts;

  constructor({ conversation, target, model, attempt }: Omit<ResponsesExchangeParts, "sealOf" | "request">) {
    this.model = calledName(model);
    this.upstreamModel = target.upstreamModel;
    this.outputCap = attempt.outputCap;
    this.startedAt = attempt.startedAt;
    this.dialect = target.dialect;
    this.secrets = target.secrets;
    // Ids of an upstream are shared by all accounts behind one of its keys.
    this.responseId = ownId("resp", attempt);
    this.createdAt = Math.floor(attempt.admittedAt / 1000);
    this.previousResponseId = conversation.previousResponseId;
    this.isStored = conversation.isStored;
    this.#attempt = attempt;
  }

  get promptTokens(): number {
    return this.#attempt.promptTokens;
  }
}
