import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { audioSeconds, plainWavSeconds } from "../../../../../src/protocols/shared/audio-seconds.js";
import { ac3, actVoice, adts, loas, mp3, spdif } from "../../../../support/audio-samples.js";
import { plainWav, wavHead } from "../../../../support/wav-head.js";

const measured = (file: Buffer) => plainWavSeconds(file, file.length);

/** What somebody says, more or less: a wave of some loudness, with noise. */
function sound(seconds: number, rate = 16_000, seed = 7): Buffer {
  const samples = Buffer.alloc(seconds * rate * 2);
  let noise = seed;
  for (let at = 0; at < samples.length / 2; at++) {
    noise = (Math.imul(noise, 1_103_515_245) + 12_345) >>> 0;
    const wave = Math.sin(at / 9) * 3000 * (1 + Math.sin(at / 4000));
    samples.writeInt16LE(Math.round(wave + ((noise >>> 16) % 512) - 256), at * 2);
  }
  return samples;
}

const voice = plainWav(sound(3));

/** The same file with other bytes from a place on. */
function withBytes(at: number, bytes: readonly number[] | string, file = voice): Buffer {
  const changed = Buffer.from(file);
  changed.set(typeof bytes === "string" ? Buffer.from(bytes) : bytes, at);
  return changed;
}

describe("a plain WAV", () => {
  it.each<[string, Buffer, number]>([
    ["sound", voice, 3],
    ["silence", plainWav(Buffer.alloc(96_000)), 3],
    ["the least and the largest samples", plainWav(Buffer.alloc(96_000, Buffer.from("ff7f0080", "hex"))), 3],
    ["noise below all", plainWav(Buffer.alloc(96_000, 0xff)), 3],
    ["two channels of 48,000 samples", plainWav(sound(6, 32_000), { rate: 48_000, channels: 2 }), 2],
    ["8 bits", plainWav(Buffer.alloc(16_000, 0x80), { rate: 8000, bits: 8 }), 2],
    ["24 bits", plainWav(Buffer.alloc(96_000, 3), { rate: 16_000, bits: 24 }), 2],
    ["two hours", plainWav(Buffer.alloc(7200 * 16_000), { rate: 8000 }), 7200],
  ])("of %s is measured", (_name, file, seconds) => {
    expect(measured(file)).toBe(seconds);
  });

  it.each<[string, Buffer]>([
    ["a size that never ends", Buffer.concat([wavHead(16_000, 0xffffffff), sound(1)])],
    ["a byte more than it says", Buffer.concat([voice, Buffer.alloc(1)])],
    ["a byte less than it says", voice.subarray(0, -1)],
    ["another length of the whole", withBytes(4, [0])],
    ["a format that is longer", withBytes(16, [18])],
    ["µ-law", withBytes(20, [7])],
    ["the extensible format", withBytes(20, [0xfe, 0xff])],
    ["no channel", withBytes(22, [0])],
    ["a rate that is none", withBytes(24, [1, 0, 0, 0])],
    ["another rate of bytes", withBytes(28, [1])],
    ["other blocks", withBytes(32, [64])],
    ["64,000 bits", withBytes(34, [0, 0xfa])],
    ["12 bits", withBytes(34, [12])],
    ["another chunk in the place of its samples", withBytes(36, "LIST")],
    ["big endians", withBytes(0, "RIFX")],
    ["two formats", Buffer.concat([voice.subarray(0, 36), voice.subarray(12)])],
    ["half a sample", plainWav(Buffer.alloc(9), { rate: 8000, bits: 8 })],
    ["no samples", plainWav(Buffer.alloc(0))],
    ["nothing", Buffer.alloc(0)],
    ["its head alone", voice.subarray(0, 30)],
    ["MP3 in its samples", plainWav(mp3(60))],
    ["MP3 far behind its beginning", plainWav(Buffer.concat([sound(20), mp3(60), sound(2)]))],
    ["AAC in its samples", plainWav(Buffer.concat([adts, Buffer.alloc(adts.length % 2)]))],
    ["AAC in LOAS", plainWav(loas)],
    ["AC-3 in its samples", plainWav(ac3)],
    ["AC-3 with the other order of bytes", plainWav(Buffer.from(ac3).swap16())],
    ["S/PDIF", plainWav(spdif)],
    ["a tag of MP3", plainWav(Buffer.concat([Buffer.from("ID3\u0004"), Buffer.alloc(400)]))],
    ["the head of a recorder's file", actVoice],
  ])("is none with %s", (_name, file) => {
    expect(measured(file)).toBeUndefined();
  });
});

describe("audio in JSON", () => {
  const seconds = (text: string) => {
    const json = Buffer.from(`"${text}"`);
    return audioSeconds(json, 1, json.length - 1);
  };
  const base64 = voice.toString("base64");
  const long = plainWav(sound(60)).toString("base64");

  it.each<[string, string, number]>([
    ["base64", base64, 3],
    ["a data URL", `data:audio/wav;base64,${base64}`, 3],
    ["a data URL without a type", `data:;base64,${base64}`, 3],
    ["base64 whose slashes are escaped", base64.replaceAll("/", "\\/"), 3],
    ["base64 of a minute", long, 60],
    ["base64 of a minute whose slashes are escaped", long.replaceAll("/", "\\/"), 60],
  ])("is measured in %s", (_name, text, length) => {
    expect(seconds(text)).toBe(length);
  });

  it.each<[string, string]>([
    ["another alphabet", base64.replaceAll("+", "-").replaceAll("/", "_")],
    ["a space", `${base64.slice(0, 100)} ${base64.slice(100)}`],
    ["letters that some leave out", `${base64.slice(0, 4)}----${base64.slice(4)}`],
    ["an end in its middle", `${base64.slice(0, 100)}=${base64.slice(100)}`],
    ["an escape that is no slash", base64.replace("A", "\\u0041")],
    ["another type", `data:audio/mpeg;base64,${base64}`],
    ["a parameter", `data:audio/wav;rate=8000;base64,${base64}`],
    ["percents", `data:audio/wav,${base64}`],
    ["MP3", mp3(60).toString("base64")],
    ["nothing", ""],
    ["an address", "https://audio.test/hours.wav"],
  ])("says nothing with %s", (_name, text) => {
    expect(seconds(text)).toBe(Number.POSITIVE_INFINITY);
  });
});

const decoders: readonly [string, string[], (file: string) => string[], number][] = [
  [
    "ffmpeg",
    ["-version"],
    (file) => ["-v", "quiet", "-i", file, "-f", "s16le", "-ar", "8000", "-ac", "1", "-"],
    16_000,
  ],
  [
    "sox",
    ["--version"],
    (file) => ["-V1", file, "-t", "raw", "-e", "signed", "-b", "16", "-r", "8000", "-c", "1", "-"],
    16_000,
  ],
];

for (const [name, asked, argumentsFor, bytesPerSecond] of decoders) {
  describe.skipIf(spawnSync(name, asked).status !== 0)(`to ${name}`, () => {
    const folder = mkdtempSync(join(tmpdir(), "wav-"));
    afterAll(() => rmSync(folder, { recursive: true }));

    const heard = (file: Buffer) => {
      const path = join(folder, "a.wav");
      writeFileSync(path, file);
      const { stdout } = spawnSync(name, argumentsFor(path), { maxBuffer: 1 << 28 });
      return stdout.length / bytesPerSecond;
    };

    it("lasts as long as it was measured", () => {
      expect(heard(voice)).toBeCloseTo(3, 1);
    });

    // A seed each: what fails can be tried again.
    it.each(Array.from({ length: 60 }, (_, seed) => seed))(
      "is never longer than measured, changed by chance (%i)",
      (seed) => {
        const hidden = [mp3(90), adts, loas, ac3, spdif, actVoice.subarray(44), sound(1)];
        const samples = Buffer.concat([sound(seed % 3, 8000, seed + 1), hidden[seed % hidden.length] as Buffer]);
        let file = plainWav(samples.subarray(0, samples.length - (samples.length % 12)), {
          rate: [8000, 16_000, 48_000][seed % 3] as number,
          bits: [16, 16, 8, 24][seed % 4] as number,
          channels: 1 + (seed % 2),
        });
        if (seed % 5 === 0) file = withBytes(16 + ((seed * 7) % 28), [seed * 31], file);
        const seconds = measured(file);
        if (seconds !== undefined) expect(heard(file)).toBeLessThanOrEqual(seconds + 0.2);
      },
    );
  });
}
