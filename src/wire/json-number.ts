/** More bytes than any number needs: the smallest double has 767 digits when it is written out. */
export const longestNumber = 1024;

/** The offset behind the number, or the negated offset of the fault. A longer number than the longest is cut off there. */
export function numberEnd(bytes: Uint8Array, start: number): number {
  const limit = Math.min(bytes.length, start + longestNumber + 1);
  let position = start;
  if (bytes[position] === 0x2d) position++;
  if (bytes[position] === 0x30) {
    position++;
  } else {
    const end = digitsEnd(bytes, position, limit);
    if (end === position) return -position;
    position = end;
  }
  if (bytes[position] === 0x2e) {
    const end = digitsEnd(bytes, position + 1, limit);
    if (end === position + 1) return -end;
    position = end;
  }
  if (bytes[position] === 0x65 || bytes[position] === 0x45) {
    position++;
    if (bytes[position] === 0x2b || bytes[position] === 0x2d) position++;
    const end = digitsEnd(bytes, position, limit);
    if (end === position) return -position;
    position = end;
  }
  return position;
}

function digitsEnd(bytes: Uint8Array, start: number, limit: number): number {
  let position = start;
  while (position < limit) {
    const byte = bytes[position] as number;
    if (byte < 0x30 || byte > 0x39) break;
    position++;
  }
  return position;
}

/** The first number that rounds to infinity, halfway between the largest double and what would be the next one. */
const firstInfinite = (2n ** 1024n - 2n ** 970n).toString();

/** The bytes of the shortest number that overflows a double, `1e309`. */
export const shortestInfinite = 5;

/** Whether a JSON number is a finite double. The digits decide: to make a number of each would take longer. */
export function isFiniteNumber(bytes: Uint8Array, start: number, end: number): boolean {
  let position = bytes[start] === 0x2d ? start + 1 : start;
  let hasPoint = false;
  /** Of the first digit that is not 0: with 1 the number is less than 10, with 0 less than 1. */
  let magnitude = 0;
  let first = -1;
  for (; position < end; position++) {
    const byte = bytes[position] as number;
    if (byte === 0x2e) {
      hasPoint = true;
      continue;
    }
    if (byte === 0x65 || byte === 0x45) break;
    if (first < 0 && byte !== 0x30) first = position;
    if (first < 0 && hasPoint) magnitude--;
    if (first >= 0 && !hasPoint) magnitude++;
  }
  if (first < 0) return true;
  magnitude += exponentOf(bytes, position + 1, end);
  if (magnitude !== firstInfinite.length) return magnitude < firstInfinite.length;
  return isBelow(bytes, first, position);
}

function exponentOf(bytes: Uint8Array, start: number, end: number): number {
  if (start >= end) return 0;
  const sign = bytes[start];
  let exponent = 0;
  for (let position = sign === 0x2b || sign === 0x2d ? start + 1 : start; position < end; position++) {
    exponent = exponent * 10 + (bytes[position] as number) - 0x30;
  }
  return sign === 0x2d ? -exponent : exponent;
}

/** Whether the digits are less than those of the first number that is infinite. */
function isBelow(bytes: Uint8Array, start: number, end: number): boolean {
  let place = 0;
  for (let position = start; position < end; position++) {
    const byte = bytes[position] as number;
    if (byte === 0x2e) continue;
    if (place === firstInfinite.length) return false;
    const bound = firstInfinite.charCodeAt(place++);
    if (byte !== bound) return byte < bound;
  }
  return place < firstInfinite.length;
}
