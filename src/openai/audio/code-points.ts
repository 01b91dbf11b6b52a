/** How many characters a text has: an emoji is one, where `length` says 2. */
export function codePoints(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length; at++) {
    const isHigh = (text.charCodeAt(at) & 0xfc00) === 0xd800;
    if (!isHigh || (text.charCodeAt(at + 1) & 0xfc00) !== 0xdc00) continue;
    pairs++;
    at++;
  }
  return text.length - pairs;
}
