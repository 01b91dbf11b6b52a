import { type FormEvent, useEffect, useState } from "react";
import { draw, type Made, speak } from "./media.js";

/** Draws what a sentence says, or speaks it, and shows what that cost. */
export function Studio({ onDone }: { onDone: () => void }) {
  const [text, setText] = useState("");
  const [picture, setPicture] = useState<Made>();
  const [sound, setSound] = useState<Made>();
  const [error, setError] = useState("");
  const [isBusy, setBusy] = useState(false);
  // A browser keeps a sound until it is told not to.
  useEffect(() => () => URL.revokeObjectURL(sound?.url ?? ""), [sound]);
  const make = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const button = (event.nativeEvent as SubmitEvent).submitter as HTMLButtonElement;
    setBusy(true);
    setError("");
    try {
      if (button.value === "draw") setPicture(await draw(text));
      else setSound(await speak(text));
      onDone();
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : "Failed.");
    } finally {
      setBusy(false);
    }
  };
  return (
    <section>
      <h2>Draw and speak</h2>
      {picture && (
        <figure>
          <img src={picture.url} alt="What was drawn" width={128} />
          <Cost of={picture} />
        </figure>
      )}
      {sound && (
        <figure>
          {/* biome-ignore lint/a11y/useMediaCaption: the user has written what is spoken */}
          <audio src={sound.url} controls />
          <Cost of={sound} />
        </figure>
      )}
      {error && <p role="alert">{error}</p>}
      <form onSubmit={make}>
        <input value={text} onChange={({ target }) => setText(target.value)} placeholder="A sentence" required />{" "}
        <button type="submit" value="draw" disabled={isBusy}>
          Draw
        </button>{" "}
        <button type="submit" value="speak" disabled={isBusy}>
          Speak
        </button>
      </form>
    </section>
  );
}

function Cost({ of: { credits } }: { of: Made }) {
  return credits === null ? null : <figcaption>{credits} credits</figcaption>;
}
