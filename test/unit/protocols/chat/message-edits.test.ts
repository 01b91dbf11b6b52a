import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { editMessages } from "../../../../src/protocols/chat/encode-chat-request.js";
import { messageMedia } from "../../../../src/protocols/shared/message-media.js";
import { outlineMessages } from "../../../../src/protocols/shared/message-outline.js";
import { memberOf, membersOf } from "../../../../src/wire/json-members.js";
import { findJsonFault } from "../../../../src/wire/json-syntax.js";

const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
const notice = { type: "text", text: "[image omitted]" };
const dropped = ["name", "reasoning_content"];

/** The same by way of objects. */
function editParsed(messages: Record<string, unknown>[], laterSystemRole?: string): unknown {
  return messages.map((message, index) =>
    Object.fromEntries(
      Object.entries(message)
        .filter(([name]) => !dropped.includes(name))
        .map(([name, value]) => {
          const isSystem = name === "role" && (value === "developer" || value === "system");
          if (isSystem) return [name, index > 0 ? (laterSystemRole ?? "system") : "system"];
          if (name !== "content" || !Array.isArray(value)) return [name, value];
          return [name, value.map((part) => (part?.type === "image_url" ? notice : part))];
        }),
    ),
  );
}

const role: [string, unknown] = ["role", "developer"];

const rules = { developerRole: "system", dropped, withoutImages: true };

function edit(text: string, laterSystemRole?: string): Uint8Array | undefined {
  const body = Buffer.from(text);
  const skips = new Map<number, number>();
  expect(findJsonFault(body, 100, skips)).toBeUndefined();
  const members = membersOf(body);
  const outline = outlineMessages(body, memberOf(members, "messages"), skips);
  const images = messageMedia({ body, skips, members }).filter(({ hasImage }) => hasImage);
  return editMessages(body, { ...outline, images }, { ...rules, laterSystemRole });
}

describe("editMessages", () => {
  it("makes of any messages what editing the objects would", () => {
    const content = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(null, "developer", "x".repeat(2000)),
      fc.array(fc.oneof(fc.constant(image), fc.constant(notice), fc.string()), { maxLength: 4 }),
    );
    const member = fc.oneof(
      fc.tuple(fc.constant("role"), fc.constantFrom("developer", "user", "system")),
      fc.tuple(fc.constant("content"), content),
      fc.tuple(fc.constantFrom("name", "reasoning_content", "tool_calls"), fc.jsonValue()),
    );
    const message = fc
      .uniqueArray(member, { selector: ([name]) => name, maxLength: 5 })
      .map((members) => Object.fromEntries(members.some(([name]) => name === "role") ? members : [...members, role]));
    fc.assert(
      fc.property(
        fc.array(message, { minLength: 1, maxLength: 5 }),
        fc.constantFrom(undefined, 1),
        fc.constantFrom(undefined, "user"),
        (messages, space, later) => {
          const text = JSON.stringify({ messages }, undefined, space);
          // A name that no request may have.
          fc.pre(!text.includes("__proto__"));
          const edited = edit(text, later);
          const plain = JSON.parse(JSON.stringify(messages));
          const got = edited === undefined ? plain : JSON.parse(Buffer.from(edited).toString());
          expect(got).toEqual(JSON.parse(JSON.stringify(editParsed(plain, later))));
        },
      ),
      { numRuns: 300 },
    );
  });

  it("gives system messages that are not the first another role", () => {
    const roles = ["developer", "developer", "user", "system", "assistant", "system"];
    const edited = edit(JSON.stringify({ messages: roles.map((name) => ({ role: name })) }), "user");
    const got: { role: string }[] = JSON.parse(Buffer.from(edited ?? []).toString());
    expect(got.map((message) => message.role)).toEqual(["system", "user", "user", "user", "assistant", "user"]);
  });

  it("leaves what no rule concerns byte for byte, and says when that is all", () => {
    const kept = '[ {"role" : "user",\n"content":"\\u0041","seed":9007199254740993} ]';
    expect(edit(`{"messages":${kept}}`)).toBeUndefined();
    const edited = edit('{"messages":[ {"name":"a","role" : "dev\\u0065loper","n":9007199254740993} ]}');
    expect(Buffer.from(edited ?? []).toString()).toBe('[ {"role" : "system","n":9007199254740993} ]');
  });
});
