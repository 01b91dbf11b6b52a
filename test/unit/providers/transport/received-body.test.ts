import { expect, it } from "vitest";
import { ReceivedBody } from "../../../../src/providers/transport/undici-response.js";
import { UpstreamError } from "../../../../src/providers/upstream-provider.js";

const source = { resume() {}, release() {} };
const piece = (text: string): Uint8Array => new TextEncoder().encode(text);
const done = { done: true, value: undefined };

function bodyOf(...texts: string[]): ReceivedBody {
  const body = new ReceivedBody(source);
  for (const text of texts) body.push(piece(text));
  return body;
}

it("gives all of a body that has ended, and is over then", async () => {
  const body = bodyOf("one ", "two");
  body.end();
  expect(new TextDecoder().decode(body.takeWhole())).toBe("one two");
  expect(body.takeWhole()).toBeUndefined();
  expect(await body.next()).toEqual(done);
});

it("gives an empty one, too", () => {
  const body = bodyOf();
  body.end();
  expect(body.takeWhole()).toHaveLength(0);
});

it("gives nothing of a body that goes on, has broken off or was aborted", async () => {
  const error = new UpstreamError("interrupted", "broken");
  const [open, failed, aborted] = [bodyOf("one"), bodyOf("one"), bodyOf("one")];
  failed.fail(error);
  aborted.abort(error);
  for (const body of [open, failed, aborted]) expect(body.takeWhole()).toBeUndefined();
  // What has come is there all the same.
  expect(await failed.next()).toMatchObject({ done: false });
  await expect(failed.next()).rejects.toBe(error);
  await expect(aborted.next()).rejects.toBe(error);
});

it("gives nothing of a body that is read piece by piece", async () => {
  const body = bodyOf("one ");
  expect(await body.next()).toMatchObject({ done: false });
  body.push(piece("two"));
  body.end();
  expect(body.takeWhole()).toBeUndefined();
  expect(await body.next()).toEqual({ done: false, value: piece("two") });
});

it("gives nothing of a body that was left", async () => {
  const body = bodyOf("one");
  body.end();
  await body.return();
  expect(body.takeWhole()).toBeUndefined();
});
