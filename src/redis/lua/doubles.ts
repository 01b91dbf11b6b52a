/**
 * The format of so many numbers for Lua's struct.pack and struct.unpack: as 64-bit floats, which are exact for all integers
 * here. Text would take several times as long to read, and Lua's tostring loses digits from the fifteenth on.
 */
export function doubles(count: number): string {
  return `'<${"d".repeat(count)}'`;
}
