/** Frames of MPEG 2, layer III, 8 kbit/s and 24,000 samples a second: 24 bytes each. */
export function mp3(seconds: number): Buffer {
  const frame = Buffer.alloc(24, 7);
  frame.set([0xff, 0xf3, 0x14, 0x64]);
  return Buffer.concat(Array.from({ length: Math.round((seconds * 1000) / 24) }, () => frame));
}

const adtsFrame = Buffer.from([0xff, 0xf1, 0x6c, 0x40, 0x01, 0x7f, 0xfc, 1, 2, 3, 4]);

/** AAC in frames of its own, of which silence takes few bytes. */
export const adts = Buffer.concat(Array.from({ length: 1000 }, () => adtsFrame));

/** A tag before MP3, of so many bytes. */
export function id3(bytes: number): Buffer {
  const tag = Buffer.alloc(10 + bytes);
  tag.write("ID3\u0004");
  for (const [place, shift] of [21, 14, 7, 0].entries()) tag[6 + place] = (bytes >> shift) & 0x7f;
  return tag;
}

interface Page {
  readonly packets: readonly Buffer[];
  readonly flags?: number;
  /** What the page says of its time. */
  readonly granule?: bigint;
  readonly serial?: number;
}

/** A page of Ogg. A packet of a multiple of 255 bytes goes on in the next one where it is the last. */
export function oggPage({ packets, flags = 0, granule = 0n, serial = 7 }: Page): Buffer {
  const sizes = packets.flatMap(({ length }, place) => {
    const rest = length % 255;
    const isOpen = rest === 0 && length > 0 && place === packets.length - 1;
    return [...new Array<number>(Math.floor(length / 255)).fill(255), ...(isOpen ? [] : [rest])];
  });
  const head = Buffer.alloc(27);
  head.write("OggS");
  head[5] = flags;
  head.writeBigInt64LE(granule, 6);
  head.writeUInt32LE(serial, 14);
  head[26] = sizes.length;
  return Buffer.concat([head, Buffer.from(sizes), ...packets]);
}

/** A packet of 60 ms, of one frame. */
export const opusPacket = Buffer.from([3 << 3, 1, 2, 3]);

const opusHead = oggPage({ packets: [Buffer.from("OpusHead\u0001\u0001\u0000\u0000")], flags: 2 });
const opusTags = oggPage({ packets: [Buffer.from("OpusTags")] });

/** Opus in Ogg, in pages of a second and a half. @param granule - what its last page says. */
export function oggOpus(seconds: number, granule = 48_000n): Buffer {
  const page = oggPage({ packets: Array.from({ length: 25 }, () => opusPacket), granule });
  return Buffer.concat([opusHead, opusTags, ...Array.from({ length: Math.round(seconds / 1.5) }, () => page)]);
}

/** An element of WebM. @param size - what it says; default: as it is; `null`: unknown. */
export function element(id: number, content: Uint8Array, size: number | null = content.length): Buffer {
  const name = Buffer.from(id.toString(16).padStart(id > 0xffff ? 8 : id > 0xff ? 4 : 2, "0"), "hex");
  const length = Buffer.alloc(8, 0xff);
  if (size !== null) length.writeBigUInt64BE(BigInt(size));
  length[0] = 1;
  return Buffer.concat([name, length, content]);
}

const track = (codec: string) => element(0x1654ae6b, element(0xae, element(0x86, Buffer.from(codec))));

/** What a browser records: clusters of a second and a half, of no known size. */
export function webm(seconds: number, codec = "A_OPUS", more: Buffer = Buffer.alloc(0)): Buffer {
  const block = element(0xa3, Buffer.concat([Buffer.from([0x81, 0, 0, 0x80]), opusPacket]));
  const cluster = element(0x1f43b675, Buffer.concat(Array.from({ length: 25 }, () => block)), null);
  const clusters = Array.from({ length: Math.round(seconds / 1.5) }, () => cluster);
  const segment = Buffer.concat([track(codec), ...clusters, more]);
  return Buffer.concat([element(0x1a45dfa3, Buffer.from("webm")), element(0x18538067, segment, null)]);
}

/** A FLAC file of frames of 4,096 samples, 8,000 a second. @param stated - the samples that it says it has. */
export function flac(frames: number, stated = 1): Buffer {
  const head = Buffer.alloc(42);
  head.write("fLaC");
  head[4] = 0x80;
  head[7] = 34;
  head.writeUIntBE(8000 << 4, 18, 3);
  head.writeUInt32BE(stated, 22);
  return Buffer.concat([head, ...Array.from({ length: frames }, (_, place) => flacFrame(place))]);
}

function flacFrame(place: number): Buffer {
  const number = place < 0x80 ? [place] : [0xc0 | (place >> 6), 0x80 | (place & 0x3f)];
  const head = [0xff, 0xf8, 0xc4, 0x00, ...number];
  return Buffer.from([...head, crc8(head), 0, 0, 0, 0x12, 0x34]);
}

function crc8(bytes: readonly number[]): number {
  return bytes.reduce((sum, byte) => {
    let crc = sum ^ byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80 ? ((crc << 1) ^ 7) & 0xff : crc << 1;
    return crc;
  }, 0);
}

/** A box of MP4. @param size - what it says. Default: as it is. */
export function box(type: string, content: Uint8Array, size = content.length + 8): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(size);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, content]);
}

const words = (...numbers: readonly number[]) => {
  const bytes = Buffer.alloc(4 * numbers.length);
  for (const [place, number] of numbers.entries()) bytes.writeUInt32BE(number, 4 * place);
  return bytes;
};

/** The tables of a track of so many frames of AAC, 16,000 samples a second. */
export function mp4Tables(frames: number, codec = "mp4a"): Buffer {
  const config = Buffer.from([0x05, 2, 0x14, 0x08]);
  const decoder = Buffer.concat([Buffer.from([0x04, 13 + config.length, 0x40]), Buffer.alloc(12), config]);
  const stream = Buffer.concat([Buffer.from([0x03, 3 + decoder.length, 0, 0, 0]), decoder]);
  const entry = box(codec, Buffer.concat([Buffer.alloc(28), box("esds", Buffer.concat([words(0), stream]))]));
  return Buffer.concat([box("stsd", Buffer.concat([words(0, 1), entry])), box("stsz", words(0, 100, frames))]);
}

/** @param more - further boxes of the movie. */
export function mp4(frames: number, more: Uint8Array = Buffer.alloc(0)): Buffer {
  const media = box("mdia", box("minf", box("stbl", mp4Tables(frames))));
  // Of a thousandth of a second.
  const movie = Buffer.concat([box("mvhd", words(0, 0, 0, 1000, 1)), box("trak", media), more]);
  return Buffer.concat([
    box("ftyp", Buffer.from("M4A ")),
    box("mdat", Buffer.from("stsz, and so on")),
    box("moov", movie),
  ]);
}
