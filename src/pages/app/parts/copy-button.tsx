import { useState } from "preact/hooks";
import { announce } from "./live-region.js";
import { texts } from "./texts.js";

interface CopyProps {
  readonly text: string;
  /** What is copied, for screen readers. */
  readonly what: string;
}

/** A text to copy, with its button. Over plain HTTP, where pages may not copy, the button selects it. */
export function CopyText({ text, what }: CopyProps) {
  return (
    <div class="copy">
      <code>{text}</code>
      <CopyButton text={text} what={what} />
    </div>
  );
}

/** Copies a text. Where that is not allowed, it selects what stands before the button. */
export function CopyButton({ text, what }: CopyProps) {
  const [done, setDone] = useState("");
  const copy = async (before: Element | null | undefined) => {
    const isCopied = await copied(text);
    if (!isCopied && before) getSelection()?.selectAllChildren(before);
    const said = isCopied ? texts.copied : texts.selected;
    setDone(said);
    announce(said);
    setTimeout(() => setDone(""), 2000);
  };
  const label = done || texts.copy;
  return (
    <button
      type="button"
      aria-label={`${label} ${what}`}
      onClick={(event) => void copy(event.currentTarget.previousElementSibling)}
    >
      {label}
    </button>
  );
}

async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
