import fileUpload from "express-fileupload";
import multer from "multer";
import { afterEach, describe, expect, it } from "vitest";
import { type ExpressVersion, expressAdapter, expressVersions } from "../../support/adapters/express-adapter.js";
import { type HostedGateway, startHosted } from "../../support/adapters/host.js";
import { everyModel } from "../../support/every-operation.js";

let hosted: HostedGateway;
afterEach(() => hosted.close());

const parsers = { "multer().any()": multer().any(), "express-fileupload": fileUpload() };

function form(fields: Readonly<Record<string, string>>): FormData {
  const made = new FormData();
  for (const [name, value] of Object.entries(fields)) made.set(name, value);
  made.set("file", new Blob(["sound"]), "a.ogg");
  made.set("image", new Blob(["image"]), "a.png");
  return made;
}

describe.each(Object.keys(expressVersions) as ExpressVersion[])("%s", (version) => {
  it.each(Object.entries(parsers))("says that %s has read a form before the gateway", async (_name, parser) => {
    hosted = await startHosted(
      expressAdapter(version, parser),
      { prefix: "", position: "before" },
      { models: everyModel },
    );
    for (const path of ["/v1/audio/transcriptions", "/v1/images/edits"]) {
      const body = form({ model: "acme/hear", prompt: "p" });
      const response = await hosted.host.fetch(path, {
        method: "POST",
        headers: { authorization: "Bearer sk-pro" },
        body,
      });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        error: { code: "invalid_form", message: expect.stringContaining("mount the gateway before it") },
      });
    }
    expect(hosted.upstream.requests).toEqual([]);
  });
});
