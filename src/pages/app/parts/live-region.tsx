import { useEffect, useState } from "preact/hooks";

let say = (_text: string) => {};

/** Tells a screen reader, when it is silent, what has come of an action. */
export function announce(text: string): void {
  say(text);
}

/** The one place that screen readers listen to. */
export function LiveRegion() {
  const [text, setText] = useState("");
  useEffect(() => {
    let isOdd = false;
    say = (next) => {
      isOdd = !isOdd;
      // The same text twice is news.
      setText(isOdd ? next : `${next}\u00a0`);
    };
    return () => {
      say = () => {};
    };
  }, []);
  return (
    <p class="hidden" role="status">
      {text}
    </p>
  );
}
