import {
  chatAnswer,
  chatChunks,
  createGate,
  eventStream,
  type FakeAnswer,
  wholeAnswer,
} from "../../../../src/testing.js";
import type { Random } from "../spending/random.js";

/** Of a stream whose client leaves, so much is sent. */
export const leftText = "One two";

/** A call, and what its client and the upstream do. */
export interface PlannedCall {
  /** Its id, as the client gives it. */
  readonly id: string;
  readonly account: string;
  readonly kind: "whole" | "stream" | "left stream" | "left whole";
  /** What the upstream reports, if it comes to that. */
  readonly usage: { readonly input: number; readonly output: number };
  readonly answer: FakeAnswer;
}

/** Some 44 % of them whole, 23 % streams, and a third that their clients leave. */
export function planCalls(count: number, accounts: readonly string[], random: Random): readonly PlannedCall[] {
  return Array.from({ length: count }, (_, index): PlannedCall => {
    const share = random.below(100);
    const kind = share < 44 ? "whole" : share < 67 ? "stream" : share < 89 ? "left stream" : "left whole";
    const usage = { input: 1 + random.below(20), output: 1 + random.below(90) };
    const answer = answerOf(kind, usage);
    return { id: `call-${index}`, account: random.of(accounts), kind, usage, answer };
  });
}

function answerOf(kind: PlannedCall["kind"], { input, output }: PlannedCall["usage"]): FakeAnswer {
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  if (kind === "whole") return wholeAnswer(chatAnswer({ usage }));
  const gate = createGate();
  // Nothing more comes than the headers, the role and two words.
  if (kind === "left stream") gate.step(4);
  else if (kind === "stream") gate.open();
  if (kind === "left whole") return wholeAnswer(chatAnswer({ usage }), { gate });
  return eventStream(chatChunks(`${leftText} three four`, { usage }), { gate });
}
