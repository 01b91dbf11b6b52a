import { afterEach, expect, it } from "vitest";
import { type Pair, startPair } from "./any-pair/start-pair.js";

let pair: Pair | undefined;
afterEach(async () => {
  await pair?.close();
  pair = undefined;
});

const input = [{ role: "user", content: "Hi" }];

it("says of a body of the Responses API that it is one", async () => {
  pair = await startPair("chat/completions", "chat/completions");
  const response = await pair.post({ input, messages: undefined });
  expect(response.status).toBe(400);
  const { error } = (await response.json()) as { error: { code: string; param: string; message: string } };
  expect(error).toMatchObject({ code: "missing_required_parameter", param: "messages" });
  expect(error.message).toContain("/v1/responses");
});

it("says no more where nothing shows what a body is", async () => {
  pair = await startPair("chat/completions", "chat/completions");
  const response = await pair.post({ messages: undefined });
  expect(await response.json()).toMatchObject({ error: { message: "Missing required parameter: 'messages'." } });
});

it.each([
  ["image/jpg", "image/jpeg"],
  ["IMAGE/PNG", "image/png"],
  ["image/jpeg", "image/jpeg"],
])("an image of the type %s goes to Anthropic as %s", async (given, sent) => {
  for (const client of ["chat/completions", "responses"] as const) {
    pair = await startPair(client, "messages");
    const url = `data:${given};base64,aGk=`;
    const part =
      client === "responses" ? { type: "input_image", image_url: url } : { type: "image_url", image_url: { url } };
    const turns = [{ role: "user", content: [part] }];
    await (await pair.post(client === "responses" ? { input: turns } : { messages: turns })).text();
    const [message] = pair.sent()["messages"] as { content: { source: { media_type: string } }[] }[];
    expect(message?.content[0]?.source.media_type).toBe(sent);
    await pair.close();
  }
  pair = undefined;
});
