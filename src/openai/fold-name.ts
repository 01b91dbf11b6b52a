/** Longer names are none that the gateway looks for. */
const longestName = 64;

/**
 * A member's name without what lenient JSON readers do not mind: its case (Go's `encoding/json`, which also takes the long s
 * and the Kelvin sign for an s and a k), and underscores and dashes (its second version, and the readers of protocol
 * buffers). Names that are alike in this may be one and the same to a server.
 *
 * @returns as much of it as tells it from shorter ones.
 */
export function foldName(name: string): string {
  let folded = "";
  for (let index = 0; index < name.length && folded.length <= longestName; index++) {
    const code = name.charCodeAt(index);
    if (code === 0x2d || code === 0x5f) continue;
    folded += foldCharacter(code);
  }
  return folded;
}

function foldCharacter(code: number): string {
  if (code === 0x17f) return "s";
  if (code === 0x212a) return "k";
  return String.fromCharCode(code >= 0x41 && code <= 0x5a ? code + 0x20 : code);
}
