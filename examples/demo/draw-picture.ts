import { crc32, deflateSync } from "node:zlib";

/** A square picture as a PNG: a pattern of its own for each description. @param side - in pixels. */
export function drawPicture(description: string, side: number): Buffer {
  const seed = crc32(description);
  const rows = Array.from({ length: side }, (_, y) => {
    const pixels = Array.from({ length: side }, (_, x) => colorAt((x / side) * 64 - 32, (y / side) * 64 - 32, seed));
    // Each row begins with its filter: none.
    return Buffer.from([0, ...pixels.flat()]);
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 2], 8); // 8 bits for each of red, green and blue
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.concat(rows))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Rings and rays, whose colors and number come of the seed. The picture is 64 wide, and 0 is in its middle. */
function colorAt(x: number, y: number, seed: number): readonly [red: number, green: number, blue: number] {
  const wave = Math.sin(Math.hypot(x, y) / 3) + Math.cos(Math.atan2(y, x) * (3 + (seed % 5)));
  const shade = (shift: number) => Math.round(((seed >>> shift) & 127) + 64 + wave * 32);
  return [shade(0), shade(8), shade(16)];
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}
