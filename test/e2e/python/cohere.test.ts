import { describe, expect, it } from "vitest";
import { errorBody, wholeAnswer } from "../../../src/testing.js";
import { documents, ranked, scores, shapes, startRerank } from "../../support/rerank-samples.js";
import { hasPython, runPython } from "./support/run-python.js";

const inOrder = ranked.map((at) => [at, scores[at]]);

describe.skipIf(!hasPython)("Cohere's clients in Python", () => {
  it.each(Object.entries(shapes))("rank with a server that answers as %s", async (_name, { answer, dialect }) => {
    const { model, origin, events } = await startRerank({}, dialect === undefined ? {} : { rerank: dialect });
    model.reply(wholeAnswer(Buffer.from(JSON.stringify(answer))));
    expect(await runPython("cohere", origin, "ranked")).toEqual({
      v2: inOrder,
      units: 1,
      v1: inOrder.slice(0, 2).map(([at, score]) => [at, score, documents[at ?? 0]]),
    });
    expect(events.map(({ chargedMicro }) => chargedMicro)).toEqual([2000, 2000]);
  });

  it("have errors that they understand, with a message", async () => {
    const { model, origin } = await startRerank();
    model.reply(wholeAnswer(errorBody("Too fast."), { status: 429 }));
    const text = expect.stringMatching(/./);
    const errors = [
      ["TooManyRequestsError", 429, text],
      ["NotFoundError", 404, expect.stringContaining("acme/none")],
    ];
    expect(await runPython("cohere", origin, "errors")).toEqual({ v2: errors, v1: errors });
  });
});
