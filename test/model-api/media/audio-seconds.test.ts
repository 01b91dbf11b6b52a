import { describe, expect, it } from "vitest";
import { audioSeconds } from "../../../src/model-api/media/audio-seconds.js";
import { fileLengths } from "../../../src/model-api/media/lengths/file-lengths.js";
import { PiecedBytes } from "../../../src/wire/pieces/pieced-bytes.js";

import { atOnce } from "../../../src/wire/slices.js";
import { adts, id3, mp3 } from "../../support/audio-samples.js";

interface Format {
  tag?: number;
  rate?: number;
  channels?: number;
  bits?: number;
  byteRate?: number;
  blockAlign?: number;
  before?: Buffer;
}

/** A second and a half by default: 16 kHz, 16 bits, one channel. */
function wave(format: Format = {}, bytes = 48_000): Buffer {
  const { tag = 1, rate = 16_000, channels = 1, bits = 16, before = Buffer.alloc(0) } = format;
  const { blockAlign = (channels * bits) / 8, byteRate = rate * ((channels * bits) / 8) } = format;
  const header = Buffer.alloc(24);
  header.write("fmt ");
  header.writeUInt32LE(16, 4);
  header.writeUInt16LE(tag, 8);
  header.writeUInt16LE(channels, 10);
  header.writeUInt32LE(rate, 12);
  header.writeUInt32LE(byteRate, 16);
  header.writeUInt16LE(blockAlign, 20);
  header.writeUInt16LE(bits, 22);
  return Buffer.concat([Buffer.from("RIFF....WAVE"), before, header, Buffer.from("data...."), Buffer.alloc(bytes)]);
}

const id3Behind = Buffer.concat([Buffer.from("TAG"), Buffer.alloc(125)]);
const lyricsBehind = Buffer.from(`LYRICSBEGININD0000200LYR00010la la la la000041LYRICS200`);
const apeBehind = Buffer.concat([Buffer.from("APETAGEX"), Buffer.alloc(500)]);

function seconds(data: Buffer | string, prefix = ""): number {
  const text = prefix + (typeof data === "string" ? data : data.toString("base64"));
  const json = Buffer.from(`"${text}"`);
  return audioSeconds(json, 1, json.length - 1);
}

describe("audioSeconds", () => {
  it.each<[string, Buffer, number]>([
    ["WAV", wave(), 1.5],
    ["WAV with two channels", wave({ channels: 2 }), 0.75],
    ["WAV of floating point", wave({ tag: 3, bits: 32 }), 0.75],
    [
      "WAV with another chunk before its format",
      wave({ before: Buffer.from("JUNK\u0003\u0000\u0000\u0000abc.") }),
      1.5,
    ],
    ["WAV that says that it is faster than it is", wave({ byteRate: 4_000_000 }), 1.5],
    ["WAV that says that its blocks are larger than they are", wave({ blockAlign: 400, byteRate: 6_400_000 }), 1.5],
    ["WAV that says that it is slower", wave({ byteRate: 1000 }), 48],
    ["MP3", mp3(100), 100],
    ["MP3 behind a tag", Buffer.concat([id3(128), mp3(100)]), 100],
    ["MP3 with a tag behind it", Buffer.concat([mp3(100), id3Behind]), 100],
    ["MP3 with another tag behind it", Buffer.concat([mp3(100), apeBehind]), 100],
    ["MP3 with zeros behind it", Buffer.concat([mp3(100), Buffer.alloc(501)]), 100.5],
    ["MP3 with zeros and a tag behind it", Buffer.concat([mp3(100), Buffer.alloc(2), id3Behind]), 100],
    ["MP3 with lyrics behind it", Buffer.concat([mp3(100), lyricsBehind, id3Behind]), 100],
    ["MP3 with the first tag once more behind it", Buffer.concat([mp3(100), id3(500)]), 100.5],
    ["MP3 of many parts of base64", mp3(600), 600],
    ["MP3 that is cut", mp3(100).subarray(0, -5), 100 - 0.024],
  ])("tells the longest that %s can last", (_name, bytes, expected) => {
    for (const prefix of ["", "data:audio/wav;base64,"]) {
      expect(seconds(bytes, prefix)).toBeGreaterThanOrEqual(expected);
      expect(seconds(bytes, prefix)).toBeLessThan(expected * 1.01);
    }
    // As some clients escape slashes.
    const escaped = seconds(bytes.toString("base64").replaceAll("/", "\\/"));
    expect(escaped).toBeGreaterThanOrEqual(expected);
    expect(escaped).toBeLessThan(expected * 1.1);
  });

  it.each<[string, Buffer | string]>([
    ["compressed WAV", wave({ tag: 0x55 })],
    ["WAV without a rate", wave({ rate: 0 })],
    [
      "WAV whose format is far away",
      wave({ before: Buffer.concat([Buffer.from("JUNK\u0000\u0000\u0001\u0000"), Buffer.alloc(65_536)]) }),
    ],
    ["WAV that ends before its format", wave().subarray(0, 20)],
    ["FLAC", Buffer.concat([Buffer.from("fLaC"), Buffer.alloc(5000)])],
    [
      "FLAC behind a tag",
      Buffer.concat([Buffer.from("ID3\u0004\u0000\u0000\u0000\u0000\u0000\u0000fLaC"), Buffer.alloc(500)]),
    ],
    ["Ogg", Buffer.from("OggS".repeat(100))],
    ["MP3 of a rate of its own", Buffer.from([0xff, 0xfb, 0x00, 0x64, 0, 0, 0, 0])],
    ["MP3 with AAC behind its first frame", Buffer.concat([mp3(0.024), adts])],
    ["MP3 with AAC behind many of its frames", Buffer.concat([mp3(100), adts])],
    ["MP3 with AAC in a tag behind it", Buffer.concat([mp3(1), Buffer.from("TAG"), adts])],
    [
      "MP3 with much AAC in another tag behind it",
      Buffer.concat([mp3(1), Buffer.from("APET"), ...Array(9).fill(adts)]),
    ],
    ["MP3 with zeros and AAC behind it", Buffer.concat([mp3(1), Buffer.alloc(400), adts])],
    [
      "MP3 with much AAC in lyrics behind it",
      Buffer.concat([mp3(1), Buffer.from("LYRICSBEGIN"), ...Array(9).fill(adts)]),
    ],
    ["MP3 with much AAC in the first tag once more", Buffer.concat([mp3(1), id3(99_000)])],
    ["zeros before MP3", Buffer.concat([Buffer.alloc(400), mp3(1)])],
    ["MP3 whose base64 ends in its middle", `${mp3(90).toString("base64")}=AAA${mp3(1).toString("base64")}`],
    ["MP3 with an escape that is no slash", mp3(90).toString("base64").replace(/.{8}$/, "\\nAAAAAAA")],
    [
      "MP3 with a letter of its own",
      `${mp3(90).toString("base64").slice(0, -8)}é${mp3(90).toString("base64").slice(-8)}`,
    ],
    [
      "MP3 of another rate behind its first frame",
      Buffer.concat([Buffer.from([0xff, 0xf3, 0x18, 0x64]), Buffer.alloc(32), mp3(1)]),
    ],
    ["AAC", adts],
    ["MP3 whose base64 goes on as none", `${mp3(20).toString("base64").slice(0, -4)}    ${mp3(1).toString("base64")}`],
    ["nothing", ""],
    ["an address", "https://audio.test/hours.wav"],
    ["an id", "file-abc123"],
    ["a data URL without an end", "data:audio/wav;base64"],
    ["what is no base64", "UklGR\\u0041AA"],
  ])("knows nothing of %s", (_name, data) => {
    expect(seconds(data)).toBe(Number.POSITIVE_INFINITY);
  });
});

it.each([0, 1, 2, 3, 4, 5])("reads base64 whose slashes are escaped, wherever its parts end (%i)", (shift) => {
  const frame = Buffer.alloc(24, 0xff);
  mp3(0.024).copy(frame, 0, 0, 4);
  const wav = wave().fill(0xff, 50 + shift);
  for (const file of [Buffer.concat([id3(shift), Buffer.alloc(24 * 9000, frame)]), wav]) {
    const text = file.toString("base64");
    const escaped = seconds(text.replaceAll("/", "\\/"));
    expect(escaped).toBeGreaterThanOrEqual(seconds(text));
    expect(escaped).toBeLessThan(2.1 * seconds(text));
  }
});

const longestOf = (file: Buffer) => atOnce(fileLengths(new PiecedBytes([file]))).most;

it("looks for the format of a WAV among its first chunks alone", () => {
  const file = Buffer.alloc(12 + 65 * 8 + 24);
  file.write("RIFF");
  file.write("WAVE", 8);
  file.write("fmt ", 12 + 65 * 8);
  file.writeUInt16LE(1, 12 + 65 * 8 + 8);
  file.fill(1, 12 + 65 * 8 + 10);
  expect(longestOf(file)).toBe(Number.POSITIVE_INFINITY);
  // The first chunk has all others in it.
  file.writeUInt32LE(64 * 8, 16);
  expect(longestOf(file)).toBeLessThan(1);
});
