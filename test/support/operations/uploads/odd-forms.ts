import fc from "fast-check";

/** A form as a client may send it. */
export interface SentForm {
  readonly type: string;
  readonly body: Buffer;
}

export const usualType = "multipart/form-data; boundary=b";

const head = (name: string) => `Content-Disposition: form-data; name="${name}"`;
const part = (lines: string, payload: string) => `--b\r\n${lines}\r\n\r\n${payload}\r\n`;
const field = (name: string, value: string) => part(head(name), value);
const model = field("model", "cheap");
const file = part(`${head("file")}; filename="a.wav"\r\nContent-Type: audio/wav`, "sound");

/** Forms that readers of forms take for different ones. */
const rows: Readonly<Record<string, string>> = {
  "the model twice": `${model}${field("model", "dear")}${file}--b--\r\n`,
  "lines that end in a line feed alone": `${model}${file}--b--\r\n`.replaceAll("\r\n", "\n"),
  "an encoded name": `${part("Content-Disposition: form-data; name*=UTF-8''model", "dear")}${file}--b--\r\n`,
  "a name without quotes": `${part("Content-Disposition: form-data; name=model", "cheap")}${file}--b--\r\n`,
  "a backslash in a name": `${part('Content-Disposition: form-data; name="mo\\del"', "dear")}${file}--b--\r\n`,
  "two names": `${part('Content-Disposition: form-data; name="a"; name="model"', "dear")}${model}${file}--b--\r\n`,
  "two dispositions": `${part(`${head("a")}\r\n${head("model")}`, "dear")}${model}${file}--b--\r\n`,
  "a field in base64": `${part(`${head("model")}\r\nContent-Transfer-Encoding: base64`, "Y2hlYXA=")}${file}--b--\r\n`,
  "a field in UTF-16": `${part(`${head("model")}\r\nContent-Type: text/plain; charset=utf-16le`, "c\u0000h\u0000")}${file}--b--\r\n`,
  "a file in two charsets": `${model}${file.replace("audio/wav", "text/plain; charset=utf-8; charset=utf-16le")}--b--\r\n`,
  "no end": `${model}${file}`,
  "a part behind the end": `${model}${file}--b--\r\n${field("model", "dear")}--b--\r\n`,
  "a preamble": `--c\r\n${head("model")}\r\n\r\ndear\r\n${model}${file}--b--\r\n`,
  "spaces behind a boundary": `${model}${file}`.replaceAll("--b\r\n", "--b  \r\n").concat("--b--\r\n"),
  "a name in parts": `${part('Content-Disposition: form-data; name="x"; name*0="mo"; name*1="del"', "dear")}${model}${file}--b--\r\n`,
  "a name of another case": `${field("MODEL", "dear")}${model}${file}--b--\r\n`,
  "a name with a space": `${field("model ", "dear")}${model}${file}--b--\r\n`,
  "a name that is escaped": `${field("model%22", "dear")}${model}${file}--b--\r\n`,
  "a name in a parameter": `${part(`Content-Disposition: form-data; x="; name=model"; name="y"`, "dear")}${model}${file}--b--\r\n`,
  "a folded line": `${part('Content-Disposition: form-data;\r\n name="model"', "cheap")}${file}--b--\r\n`,
  "a boundary in a file": `${model}${file.replace("sound", "so--b\r\n--bund\r\n--b")}--b--\r\n`,
  "a part in a file": `${model}${file.replace("sound", `\n--b\n${head("model")}\n\ndear\n--b--\n`)}--b--\r\n`,
  "the gateway's own boundary in a file": `${model}${file.replace("sound", `\r\n--infergate-\r\n${head("model")}\r\n\r\ndear`)}--b--\r\n`,
  "a quote in a file name": `${model}${file.replace("a.wav", 'a\\"; name=\\"model.wav')}--b--\r\n`,
  "escaped line ends in a file name": `${model}${file.replace("a.wav", "a%0D%0AX: y%22; name=%22model.wav")}--b--\r\n`,
  "an encoded file name": `${model}${file.replace('filename="a.wav"', `filename="a.wav"; filename*=UTF-8''b%22.wav`)}--b--\r\n`,
  "a file that says it is a form": `${model}${file.replace("audio/wav", "multipart/mixed; boundary=b")}--b--\r\n`,
  "header lines of another kind": `${model}${file.replace("\r\n\r\n", "\r\nContent-Length: 2\r\nX-Y: z\r\n\r\n")}--b--\r\n`,
};

/** Of these, those that the gateway refuses. */
const refused = [
  ...[
    "the model twice",
    "lines that end in a line feed alone",
    "an encoded name",
    "a backslash in a name",
    "two names",
  ],
  ...["two dispositions", "a field in base64", "a field in UTF-16", "no end", "a part behind the end", "a preamble"],
  ...["spaces behind a boundary", "a name of another case", "a folded line", "a boundary in a file"],
  ...["a name with a space", "a name that is escaped"],
];

export const isReadable = (name: string) => !refused.includes(name);

export const oddForms: readonly (readonly [name: string, form: SentForm])[] = Object.entries(rows).map(
  ([name, text]) => [name, { type: usualType, body: Buffer.from(text) }],
);

/** What changes what a reader makes of a form. */
const fragments = [
  ...'\r\n|\n|\r|--b|--b--|\r\n--b\r\n|\r\n--b--\r\n|--|\r\n\r\n|;|"|\\|%22|%0D%0A|\u0000|\t| |=|:|*'.split("|"),
  ...['name="model"', "name*=utf-8''model", "name*0=mo", "name=model", 'filename="x"', "filename*=utf-8''y", "; name="],
  ...[head("model"), "\r\nContent-Type: text/plain; charset=utf-16", "\r\nContent-Transfer-Encoding: base64", "model"],
  ...["é", "\u{1f600}", "[]", "[0]", "[x]", "__proto__", "\r\n--infergate-"],
];

const names = fc.constantFrom(
  "model",
  "prompt",
  "language",
  "temperature",
  "include[]",
  "x",
  "chunking_strategy[type]",
);
const texts = fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom(...fragments), fc.constant("cheap"));
const fields = fc.tuple(names, texts).map(([name, text]) => field(name, text));
const files = fc
  .tuple(fc.oneof(texts, fc.constant("a.wav")), fc.uint8Array({ maxLength: 20 }), texts)
  .map(([name, bytes, text]) =>
    part(`${head("file")}; filename="${name}"`, `${Buffer.from(bytes).toString("latin1")}${text}`),
  );
const forms = fc.tuple(fc.array(fields, { maxLength: 4 }), files, fc.boolean()).map(([some, sound, fileFirst]) => {
  const all = fileFirst ? [sound, model, ...some] : [...some, model, sound];
  return `${all.join("")}--b--\r\n`;
});

interface Change {
  place: number;
  deleted: number;
  added: string;
}

const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.record({
    place: fc.double({ min: 0, max: 1, noNaN: true }),
    deleted: fc.constantFrom(0, 0, 0, 1, 2, 5),
    added: fc.oneof(fc.constantFrom(...fragments), fc.constant("")),
  }),
  { maxLength: 3 },
);

/** Forms of a client that has gone wrong, or wants them to. */
export const mutatedForms: fc.Arbitrary<SentForm> = fc.tuple(forms, changes).map(([form, list]) => {
  let text = form;
  for (const { place, deleted, added } of list) {
    const at = Math.floor(place * text.length);
    text = text.slice(0, at) + added + text.slice(at + deleted);
  }
  return { type: usualType, body: Buffer.from(text) };
});
