import { expect, it } from "vitest";
import { pages } from "./documentation.js";

const mostWords = 25;

/** The page without code and tables; links and code in a line are the words that a reader sees. */
function proseOf(text: string): string {
  return text
    .replace(/^```[\s\S]*?^```/gm, "")
    .replace(/^\|.*$/gm, "")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/`[^`]*`/g, "code")
    .replaceAll("**", "");
}

/** Paragraphs, headings and the points of lists end a sentence, too. */
function sentencesOf(text: string): string[] {
  return proseOf(text)
    .split(/\n\s*\n|\n(?=\s*(?:-|\d+\.|#+|>) )/)
    .flatMap((block) => block.replace(/\s+/g, " ").split(/(?<=[.?!]) /))
    .filter((sentence) => sentence !== "");
}

function wordsIn(sentence: string): number {
  return sentence.split(" ").filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

it.each([...pages])("%s has short sentences", (_page, text) => {
  expect(sentencesOf(text).filter((sentence) => wordsIn(sentence) > mostWords)).toEqual([]);
});

it("a long sentence is noticed, wherever it stands", () => {
  const long = `${"word ".repeat(mostWords)}and one more.`;
  for (const text of [
    long,
    `Short. ${long} Short.`,
    `- A point.\n- ${long}`,
    `[${long}](page.md)`,
    long.replaceAll(" ", "\n"),
  ])
    expect(sentencesOf(text).filter((sentence) => wordsIn(sentence) > mostWords)).toHaveLength(1);
});

it("the glossary's words are used for what they mean: credits and response, not stock and answer", () => {
  const others = /\b(stocks?|answer(s|ed|ing)?)\b/gi;
  const found = [...pages].flatMap(([page, text]) =>
    [...proseOf(text).matchAll(others)].map(({ index, input }) => `${page}: ${input.slice(index - 20, index + 20)}`),
  );
  expect(found).toEqual([]);
});
