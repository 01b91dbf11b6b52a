import { isRecord } from "../../wire/is-record.js";

/** A transcript as subtitles, in the words of SubRip or of WebVTT. @param segments - `start`, `end` and `text` of each. */
export function subtitles(format: "srt" | "vtt", segments: readonly unknown[]): string {
  const mark = format === "srt" ? "," : ".";
  const cues = segments.filter(isRecord).map(({ start, end, text }, place) => {
    const times = `${timeOf(start, mark)} --> ${timeOf(end, mark)}`;
    const line = `${times}\n${String(text ?? "")
      .trim()
      .replaceAll("-->", "->")}\n\n`;
    return format === "srt" ? `${place + 1}\n${line}` : line;
  });
  return format === "srt" ? cues.join("") : `WEBVTT\n\n${cues.join("")}`;
}

function timeOf(seconds: unknown, mark: string): string {
  const ms = Math.max(0, Math.round(Number(seconds) * 1000) || 0);
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const rest = String(ms % 1000).padStart(3, "0");
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}${mark}${rest}`;
}
