/** What the server has written into the document for its script. */
export function readSettings<Settings>(): Settings {
  return JSON.parse(document.getElementById("settings")?.textContent ?? "{}");
}
