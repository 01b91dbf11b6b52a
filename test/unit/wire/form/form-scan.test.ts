import { describe, expect, it } from "vitest";
import { FormScan } from "../../../../src/wire/form.js";
import { boundaryOf } from "../../../../src/wire/form-boundary.js";
import { newBoundary, writeForm } from "../../../../src/wire/form-writer.js";
import { PiecedBytes } from "../../../../src/wire/pieced-bytes.js";
import { sliceBytes } from "../../../../src/wire/slices.js";

const limits = { mostParts: 64, mostFiles: 16 };

function scan(text: string | Buffer, boundary = "b", slice = sliceBytes, piece = 1000) {
  const bytes = Buffer.from(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / piece) }, (_, at) =>
    bytes.subarray(at * piece, (at + 1) * piece),
  );
  const form = new FormScan(new PiecedBytes(pieces), boundary, limits);
  while (!form.run(form.position + slice));
  return (
    form.fault ??
    form.parts.map(({ name, filename, start, end }) => [name, filename, bytes.toString("latin1", start, end)])
  );
}

const part = (head: string, payload = "v") => `--b\r\n${head}\r\n\r\n${payload}\r\n`;
const disposition = 'Content-Disposition: form-data; name="a"';
const field = (name: string, value = "v") => part(`Content-Disposition: form-data; name="${name}"`, value);

describe("a form", () => {
  it("has parts, of which nothing is copied, in slices of any size", () => {
    const file = part(
      'Content-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav',
      "\r\n--\r\n--c",
    );
    const text = `${field("model", "")}${file}${field("n", "1")}--b--\r\n`;
    const parts = [
      ["model", undefined, ""],
      ["file", "a.wav", "\r\n--\r\n--c"],
      ["n", undefined, "1"],
    ];
    for (const slice of [1, 2, 7, 50, sliceBytes]) {
      for (const piece of [1, 3, 10, 1000]) expect(scan(text, "b", slice, piece)).toEqual(parts);
    }
    expect(scan(`\r\n${text.slice(0, -2)}`)).toEqual(parts);
  });

  it("keeps a boundary inside a file that no line precedes", () => {
    expect(
      scan(`${part('Content-Disposition: form-data; name="file"; filename="a"', "x--b\r\n--b")}--b--`),
    ).not.toEqual([]);
    expect(scan(`${part('Content-Disposition: form-data; name="file"; filename="a"', "x--by\n--b")}--b--`)).toEqual([
      ["file", "a", "x--by\n--b"],
    ]);
  });

  it.each([
    ["bare line feeds", `${field("a")}--b--`.replaceAll("\r\n", "\n")],
    ["a preamble", `Hello\r\n${field("a")}--b--`],
    ["an epilogue", `${field("a")}--b--\r\nmore`],
    ["a part behind its end", `${field("a")}--b--\r\n${field("b")}--b--`],
    ["no end", field("a")],
    ["half an end", `${field("a")}--b-`],
    ["spaces behind a boundary", `${field("a")}--b  \r\n\r\n\r\n--b--`],
    ["an encoded name", `${part("Content-Disposition: form-data; name*=UTF-8''model")}--b--`],
    [
      "an encoded name beside another",
      `${part("Content-Disposition: form-data; name=\"a\"; name*=UTF-8''model")}--b--`,
    ],
    ["a name with a backslash", `${field("mo\\del")}--b--`],
    ["a name with an escaped quote", `${field('a\\"b')}--b--`],
    ["two names", `${part('Content-Disposition: form-data; name="a"; name="model"')}--b--`],
    [
      "two dispositions",
      `${part('Content-Disposition: form-data; name="a"\r\nContent-Disposition: form-data; name="model"')}--b--`,
    ],
    ["another disposition", `${part('Content-Disposition: attachment; name="a"')}--b--`],
    ["no disposition", `${part("Content-Type: text/plain")}--b--`],
    ["base64", `${part('Content-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64')}--b--`],
    [
      "UTF-16",
      `${part('Content-Disposition: form-data; name="a"\r\nContent-Type: text/plain; charset=utf-16le')}--b--`,
    ],
    ["a folded header", `${part('Content-Disposition: form-data;\r\n name="a"')}--b--`],
    ["NUL in a name", `${field("a\u0000b")}--b--`],
    ["CR in a file name", `${part('Content-Disposition: form-data; name="a"; filename="x\ry"')}--b--`],
    ["a name of three bytes that are no character", Buffer.from(`${field("\u00f0\u0090\u0080")}--b--`, "latin1")],
    ["no name", `${part("Content-Disposition: form-data")}--b--`],
    ["an empty name", `${field("")}--b--`],
    ["more than 16 headers", `${part(`Content-Disposition: form-data; name="a"${"\r\nX-A: b".repeat(16)}`)}--b--`],
    [
      "more than 8 KiB of headers",
      `${part(`Content-Disposition: form-data; name="a"\r\nX-A: ${"b".repeat(9000)}`)}--b--`,
    ],
    ["more than 64 parts", `${field("a").repeat(65)}--b--`],
    ["more than 16 files", `${part('Content-Disposition: form-data; name="f"; filename="x"').repeat(17)}--b--`],
    ["another boundary", `${field("a")}--b--`.replaceAll("--b", "--c")],
    ["nothing", ""],
  ])("with %s is none", (_name, text) => {
    expect(scan(text)).toEqual(expect.stringMatching(/^(The form|A part|A boundary|Something)/));
  });

  it("has names as browsers, curl, requests and aiohttp write them", () => {
    const named = (name: string) => part(`Content-Disposition: form-data; ${name}`);
    expect(
      scan(
        [
          named('name="image[]"; filename="a%22b.png"'),
          named("name=model"),
          named('name="f"; filename="gr\u00f6\u00dfe \\"x\\".wav"; filename*=UTF-8\'\'x'),
          part('content-disposition: form-data ; name="u"\r\nContent-Type: text/plain; charset=utf-8'),
          "--b--\r\n",
        ].join(""),
      ),
    ).toEqual([
      ["image[]", "a%22b.png", "v"],
      ["model", undefined, "v"],
      ["f", 'gr\u00f6\u00dfe "x".wav', "v"],
      ["u", undefined, "v"],
    ]);
  });

  it("takes time in proportion to its size, whatever its file holds", () => {
    const boundary = "a".repeat(70);
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`;
    const end = `\r\n--${boundary}--\r\n`;
    const size = 25_000_000;
    const timeOf = (filling: string) => {
      const bytes = Buffer.concat([Buffer.from(head), Buffer.alloc(size, filling), Buffer.from(end)]);
      const started = process.cpuUsage();
      const form = new FormScan(new PiecedBytes([bytes]), boundary, limits);
      while (!form.run(form.position + sliceBytes));
      expect(form.parts.map((each) => each.end - each.start)).toEqual([size]);
      return processorMs(started);
    };
    timeOf("x");
    const usual = timeOf("random bytes, say");
    for (const filling of ["a", "\r\n--", `\r\n--${"a".repeat(69)}b`]) {
      expect(timeOf(filling)).toBeLessThan(40 * usual + 500);
    }
    // What takes time at headers: runs of spaces, and many parameters.
    for (const line of [`X-A: a${" ".repeat(7_900)}b`, "X-A: a b", `X-A: b${" ".repeat(500)}c`.repeat(15)]) {
      const text = `${part(`${disposition}\r\n${line}`).repeat(64)}--b--`;
      const began = process.cpuUsage();
      expect(scan(text, "b", sliceBytes, text.length)).toHaveLength(64);
      expect(processorMs(began)).toBeLessThan(400);
    }
    const many = Buffer.from(`${field("a", "x").repeat(200_000)}--b--`);
    const started = process.cpuUsage();
    expect(scan(many)).toBe("The form has more than 64 parts.");
    expect(processorMs(started)).toBeLessThan(500);
  });

  /** That of the clock is also what other processes take. */
  function processorMs(since: NodeJS.CpuUsage): number {
    const { user, system } = process.cpuUsage(since);
    return (user + system) / 1000;
  }
});

describe("a boundary", () => {
  it.each([
    ["multipart/form-data; boundary=abc", "abc"],
    ['Multipart/Form-Data; charset=utf-8; boundary="a b:c"', "a b:c"],
    [`multipart/form-data; boundary=${"a".repeat(70)}`, "a".repeat(70)],
    ["multipart/form-data", undefined],
    ["multipart/form-data; boundary=", undefined],
    ['multipart/form-data; boundary=""', undefined],
    [`multipart/form-data; boundary=${"a".repeat(71)}`, undefined],
    ["multipart/form-data; boundary=a; boundary=b", undefined],
    ['multipart/form-data; boundary="a "', undefined],
    ['multipart/form-data; boundary="a\r\nb"', undefined],
    ["multipart/mixed; boundary=a", undefined],
  ])("of %j", (type, boundary) => {
    expect(boundaryOf(type)).toBe(boundary);
  });
});

it("a form is written in one way, which reads as it was meant", async () => {
  const boundary = newBoundary();
  const parts = [
    { name: 'a"\r\nb', payload: "x\r\ny" },
    { name: "file", filename: 'q"\n.wav', type: "audio/wav", payload: [Buffer.from([0, 13]), Buffer.from([10, 255])] },
    { name: "empty", filename: "e", payload: [] },
    { name: "last", payload: "" },
  ];
  const bytes = Buffer.concat(writeForm(parts, boundary));
  expect(scan(bytes, boundary)).toEqual([
    ["a%22%0D%0Ab", undefined, "x\r\ny"],
    ["file", "q%22%0A.wav", "\u0000\r\n\u00ff"],
    ["empty", "e", ""],
    ["last", undefined, ""],
  ]);
  const read = await new Response(bytes, {
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
  }).formData();
  expect([...read.keys()]).toEqual(['a"\r\nb', "file", "empty", "last"]);
  const file = read.get("file") as File;
  expect([file.name, file.type, Buffer.from(await file.arrayBuffer())]).toEqual([
    'q"\n.wav',
    "audio/wav",
    Buffer.from([0, 13, 10, 255]),
  ]);
});
