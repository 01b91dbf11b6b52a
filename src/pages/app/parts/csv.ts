/** A cell that a spreadsheet would take for a formula, also in full-width characters, begins with an apostrophe. */
function cell(value: string | number): string {
  const text = typeof value === "number" ? String(value) : value.replace(/^(?=[=+\-@＝＋－＠\t\r\n])/, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** RFC 4180. */
export function toCsv(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/** Gives a text to the reader as a file. */
export function download(name: string, text: string): void {
  const link = document.createElement("a");
  // The mark tells spreadsheets that it is UTF-8.
  link.href = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
