import fc from "fast-check";
import { expect, it } from "vitest";
import { fileLengths } from "../../../src/model-api/media/lengths/file-lengths.js";
import { PiecedBytes } from "../../../src/wire/pieces/pieced-bytes.js";
import { atOnce, sliceBytes } from "../../../src/wire/slices.js";
import {
  adts,
  box,
  element,
  flac,
  id3,
  mp3,
  mp4,
  mp4Tables,
  oggOpus,
  oggPage,
  opusPacket,
  webm,
} from "../../support/audio-samples.js";

const measured = (...pieces: Buffer[]) => atOnce(fileLengths(new PiecedBytes(pieces))).measured;

/** The packets of the headers count, too. */
const headers = 0.24;

const vorbisHead = Buffer.alloc(30);
vorbisHead.write("\u0001vorbis");
vorbisHead.writeUInt32LE(48_000, 12);
vorbisHead[28] = 0xb8;
const packets = Array.from({ length: 100 }, () => Buffer.from("abc"));
const vorbis = Buffer.concat([
  oggPage({ packets: [vorbisHead], flags: 2, serial: 1 }),
  oggPage({ packets, serial: 1, granule: 1n }),
]);

it.each<[string, Buffer, number]>([
  ["MP3", mp3(100), 100.008],
  ["MP3 behind a tag", Buffer.concat([id3(900), mp3(100)]), 100.008],
  ["MP3 with zeros behind it", Buffer.concat([mp3(100), Buffer.alloc(900)]), 100.008],
  ["MP3 with zeros between its frames", Buffer.concat([mp3(60), Buffer.alloc(901), mp3(60)]), 120],
  ["MP3 with a tag behind it", Buffer.concat([mp3(100), Buffer.from("TAG"), Buffer.alloc(125)]), 100.008],
  ["MP3 with lyrics behind it, which might be frames", Buffer.concat([mp3(100), Buffer.from("LYRI"), mp3(9)]), 109],
  ["MP3 with another tag behind it, of frames", Buffer.concat([mp3(100), Buffer.from("APET"), mp3(9)]), 109],
  ["MP3 with the first tag once more behind it", Buffer.concat([mp3(100), id3(890)]), 100.908],
  ["Opus in Ogg that says that it is a second long", oggOpus(3600), 3600 + headers],
  ["two files of Ogg as one", Buffer.concat([oggOpus(60), oggOpus(60)]), 120 + 2 * headers],
  ["Vorbis, by the longest packets", vorbis, (101 * 1024) / 48_000],
  ["FLAC that says that it has one sample", flac(1000), 512],
  ["FLAC that says nothing", flac(1000, 0), 512],
  ["MP4 that says that it is a thousandth of a second long", mp4(1000), 64],
  [
    "MP4 in fragments",
    Buffer.concat([
      mp4(0),
      ...Array(5).fill(box("moof", box("traf", box("trun", Buffer.from([0, 0, 0, 1, 0, 0, 0, 100]))))),
    ]),
    32,
  ],
  ["MP4 with another table where some readers look", mp4(10, box("udta", box("trak", mp4Tables(1000)))), 64.64],
  ["WebM as browsers record it", webm(600), 600],
  ["WebM that is cut in a cluster", Buffer.concat([webm(600), element(0x1f43b675, Buffer.alloc(0), 1000)]), 600],
])("measures %s", (_name, file, seconds) => {
  expect(measured(file)).toBeGreaterThanOrEqual(seconds - 0.001);
  expect(measured(file)).toBeLessThanOrEqual(seconds + 0.5);
  const [middle, near] = [Math.floor(file.length / 2), Math.floor(file.length / 2) + 1];
  const parts = [file.subarray(0, middle), file.subarray(middle, near), file.subarray(near)];
  expect(measured(...parts)).toBe(measured(file));
});

const block = element(0xa3, Buffer.concat([Buffer.from([0x81, 0, 0, 0x80]), opusPacket]));

it.each<[string, Buffer]>([
  ["Ogg with something between its pages", Buffer.concat([oggOpus(3), Buffer.from("x"), oggOpus(3)])],
  ["Ogg of another codec", oggPage({ packets: [Buffer.from("Speex   ")], flags: 2 })],
  ["Ogg whose stream never began", oggPage({ packets: [opusPacket] })],
  [
    "Ogg with two codecs, of which one is not known",
    Buffer.concat([oggOpus(3), oggPage({ packets: [Buffer.from("x")], flags: 2, serial: 9 })]),
  ],
  ["FLAC without a frame", flac(0)],
  ["WebM of another codec", webm(3, "A_VORBIS")],
  [
    "WebM with a video beside it",
    webm(3, "A_OPUS", element(0x1654ae6b, element(0xae, element(0x86, Buffer.from("V_VP8"))))),
  ],
  ["WebM whose packets are packed", webm(3, "A_OPUS", element(0x1654ae6b, element(0xae, element(0x6d80, block))))],
  [
    "WebM with packets behind an element that is too long",
    webm(3, "A_OPUS", Buffer.concat([element(0xec, block, 1e6), block])),
  ],
  [
    "WebM with packets in an element that ends within another",
    Buffer.concat([webm(3), element(0x1f43b675, element(0xec, block, 900), 20), block]),
  ],
  ["AAC", adts],
  ["MP3 with AAC behind it", Buffer.concat([mp3(3), adts])],
  ["MP4 of nothing", Buffer.from("\u0000\u0000\u0000\u000cftypM4A ")],
  ["MP4 of another codec", mp4(9, mp4Tables(9, "alac"))],
  ["MP4 whose boxes do not end with it", Buffer.concat([mp4(9), box("free", Buffer.alloc(5), 90)])],
  ["WebM with clusters in what is skipped", webm(3, "A_OPUS", element(0xec, webm(9)))],
  ["nothing", Buffer.alloc(0)],
])("knows nothing of %s", (_name, file) => {
  expect(measured(file)).toBeUndefined();
});

it("counts a packet that goes on in the next page once, and one that only says so again", () => {
  const long = Buffer.concat([opusPacket, Buffer.alloc(251)]);
  const begin = oggOpus(0);
  const open = oggPage({ packets: [long] });
  const rest = oggPage({ packets: [Buffer.from("rest")], flags: 1 });
  expect(measured(begin, open, rest)).toBeCloseTo((measured(begin) ?? 0) + 0.06, 3);
  expect(measured(begin, open, rest, rest)).toBeGreaterThan(measured(begin, open, rest) ?? 0);
});

it("counts all packets of a laced block at their longest", () => {
  const laced = element(0xa3, Buffer.from([0x81, 0, 0, 0x84, 9, 1, 2, 3]));
  expect(measured(webm(0, "A_OPUS", laced))).toBeCloseTo(10 * 0.12);
});

it.each<[string, Buffer]>([
  ["MP4 with a large box", mp4(9, box("free", Buffer.alloc(5 * sliceBytes, "s")))],
  ["MP3", Buffer.concat(Array.from({ length: 6 * 24 }, () => mp3(sliceBytes / 24 / 1000)))],
  ["MP3 with many zeros behind it", Buffer.concat([mp3(1), Buffer.alloc(6 * sliceBytes)])],
])("lets others have their turn while it reads %s", (_name, file) => {
  let steps = 0;
  for (const lengths = fileLengths(new PiecedBytes([file])); !lengths.next().done; ) steps++;
  expect(steps).toBeGreaterThanOrEqual(5);
});

it("finds a table of MP4 wherever a slice ends", () => {
  const tables = mp4Tables(1000);
  const expected = measured(mp4(10, box("udta", tables)));
  for (let before = sliceBytes - tables.length; before <= sliceBytes; before++) {
    expect(measured(mp4(10, box("udta", Buffer.concat([Buffer.alloc(before), tables]))))).toBe(expected);
  }
});

it("throws for no bytes, however they are cut or changed", () => {
  const files = [mp3(1), mp4(9), oggOpus(3), vorbis, flac(20), webm(3)];
  fc.assert(
    fc.property(
      fc.constantFrom(...files),
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 20 }),
      fc.nat(),
      (file, changes, cut) => {
        const changed = Buffer.from(file);
        for (const [at, value] of changes) changed[at % changed.length] = value;
        const length = measured(changed.subarray(0, cut % (changed.length + 1)));
        expect(length === undefined || (length >= 0 && Number.isFinite(length))).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});
