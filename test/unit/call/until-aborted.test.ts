import { Buffer } from "node:buffer";
import { describe, expect, it, vi } from "vitest";
import { AbortNotifier } from "../../../src/call/abort-notifier.js";
import { readUntilAborted } from "../../../src/call/relay/until-aborted.js";

/** A body of these pieces, which counts how often it was left. A piece that is an error is thrown. */
function bodyOf(...pieces: (string | Error)[]) {
  const left = vi.fn(async () => ({ done: true as const, value: undefined }));
  let next = 0;
  const body: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        const piece = pieces[next++];
        if (piece instanceof Error) throw piece;
        return piece === undefined ? { done: true, value: undefined } : { done: false, value: Buffer.from(piece) };
      },
      return: left,
    }),
  };
  return { body, left };
}

function gather() {
  const pieces: string[] = [];
  return { pieces, take: (piece: Uint8Array) => pieces.push(String(piece)) > 0 };
}

describe("readUntilAborted", () => {
  it("gives all pieces in their order, and leaves nothing that has ended", async () => {
    const { body, left } = bodyOf("one", "two", "three");
    const { pieces, take } = gather();
    await readUntilAborted(new AbortNotifier(), body, take);
    expect(pieces).toEqual(["one", "two", "three"]);
    expect(left).not.toHaveBeenCalled();
  });

  it("takes a list of pieces for a body", async () => {
    const { pieces, take } = gather();
    const body = [Buffer.from("one")] as unknown as AsyncIterable<Uint8Array>;
    await readUntilAborted(new AbortNotifier(), body, take);
    expect(pieces).toEqual(["one"]);
  });

  it("leaves a body of which no more is wanted", async () => {
    const { body, left } = bodyOf("one", "two");
    await readUntilAborted(new AbortNotifier(), body, () => false);
    expect(left).toHaveBeenCalledOnce();
  });

  it("fails with the body, and leaves one whose piece could not be taken", async () => {
    const broken = bodyOf("one", new Error("broken"));
    await expect(readUntilAborted(new AbortNotifier(), broken.body, () => true)).rejects.toThrow("broken");
    const refused = bodyOf("one");
    const refuse = () => {
      throw new Error("refused");
    };
    await expect(readUntilAborted(new AbortNotifier(), refused.body, refuse)).rejects.toThrow("refused");
    expect(refused.left).toHaveBeenCalledOnce();
    await expect(readUntilAborted(new AbortNotifier(), {} as AsyncIterable<Uint8Array>, () => true)).rejects.toThrow();
  });

  it("ends with its call, and leaves a body that says nothing", async () => {
    const notice = new AbortNotifier();
    const { body, left } = bodyOf("one");
    const silent: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({ ...body[Symbol.asyncIterator](), next: () => new Promise(() => {}) }),
    };
    const reading = readUntilAborted(notice, silent, () => true);
    notice.abort();
    await expect(reading).rejects.toMatchObject({ failure: "aborted" });
    expect(left).toHaveBeenCalledOnce();
  });

  it("takes nothing that comes after the end of its call", async () => {
    const notice = new AbortNotifier();
    const { body, left } = bodyOf("one", "two");
    const { pieces, take } = gather();
    const reading = readUntilAborted(notice, body, (piece) => {
      notice.abort();
      return take(piece);
    });
    await expect(reading).rejects.toMatchObject({ failure: "aborted" });
    expect(pieces).toEqual(["one"]);
    expect(left).toHaveBeenCalled();
    const before = bodyOf("one");
    await expect(readUntilAborted(notice, before.body, take)).rejects.toMatchObject({ failure: "aborted" });
    expect(before.left).toHaveBeenCalledOnce();
    expect(pieces).toEqual(["one"]);
  });

  it("does not leave the body when its call ends later", async () => {
    const notice = new AbortNotifier();
    const { body, left } = bodyOf("one");
    await readUntilAborted(notice, body, () => true);
    notice.abort();
    expect(left).not.toHaveBeenCalled();
  });
});
