import { describe, expect, it } from "vitest";
import { eventStream, type FakeUpstream, startFakeUpstream, wholeAnswer } from "../../../../src/testing.js";
import {
  bothTargets,
  chatTarget,
  type MessagesServerKind,
} from "../../../support/operations/messages/message-samples.js";
import { messageText } from "../../../support/operations/messages/messages-server.js";
import { startTestGateway } from "../../../support/test-gateway.js";

const key = "sk-live-Qm7vT2xLw9ZkR4pNc8YhBd3J";
const baseURL = "http://gw-eu-17:9000/prod-5b2f/v1";
const secrets = [key, key.slice(-12), "gw-eu-17", "10.1.2.3", "/srv/models/weights.bin", "prod-5b2f", "upstream-small"];
/** All that a careless server may say, around what the client has to know. */
const leak =
  `temperature: ${key} ${key.slice(-12)} at ${baseURL} (10.1.2.3:9000), upstream-small, see /srv/models/weights.bin ` +
  "must be at most 1";

async function start(target: MessagesServerKind) {
  const server = await startFakeUpstream();
  const fake = target.provider({
    baseURL,
    apiKey: key,
    fetch: (url, init) => fetch(String(url).replace(baseURL, server.url), init),
  });
  const test = await startTestGateway({ providers: { fake } });
  const ask = async (stream: boolean, path = "/v1/messages") => {
    const headers = { "content-type": "application/json", "x-api-key": "sk-pro", authorization: "Bearer sk-pro" };
    const request = new Request(`http://gateway.test${path}`, {
      method: "POST",
      headers,
      body: messageText({ stream }),
    });
    return (await test.gateway.handler(request)).text();
  };
  return { test, server, ask };
}

function expectClean(text: string): void {
  for (const secret of secrets) expect(text).not.toContain(secret);
}

describe.each(bothTargets)("nothing leaks from $name", (target) => {
  const said = (type: string) =>
    target === chatTarget
      ? { error: { message: leak, type, param: key, code: 400 } }
      : { type: "error", error: { type, message: leak }, request_id: `req_${key}` };

  async function each(answers: (server: FakeUpstream) => void, hasWords: boolean): Promise<void> {
    const { test, server, ask } = await start(target);
    answers(server);
    for (const stream of [false, true]) {
      for (const path of target === chatTarget ? ["/v1/messages"] : ["/v1/messages", "/v1/chat/completions"]) {
        const text = await ask(stream, path);
        expect(text).toContain('"error"');
        if (hasWords) expect(text).toContain("must be at most 1");
        expectClean(text);
      }
    }
    expectClean(JSON.stringify(test.events.map(({ attempts: _, ...event }) => event)));
    await test.close();
    await server.close();
  }

  it.each([400, 413, 422])("in an error with the status %i", (status) =>
    each((server) => server.reply(wholeAnswer(said("invalid_request_error"), { status })), true),
  );

  it.each([401, 403, 429, 500, 529])("in an error with the status %i, of which no word goes on", (status) =>
    each((server) => server.reply(wholeAnswer(said("x"), { status })), false),
  );

  it("in an error inside a 200, or in place of a stream", () =>
    each((server) => server.reply(wholeAnswer(said("invalid_request_error"))), true));

  it("in an error inside a stream", async () => {
    const { test, server, ask } = await start(target);
    server.reply(
      eventStream([`event: error\ndata: ${JSON.stringify(said("invalid_request_error"))}\n\n`], { done: false }),
    );
    const text = await ask(true);
    expect(text).toContain("must be at most 1");
    expectClean(text);
    await test.close();
    await server.close();
  });
});
