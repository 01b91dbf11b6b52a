import { CopyText } from "../parts/copy-button.js";
import { fill } from "../parts/texts.js";
import { texts } from "./settings.js";
import { baseUrl, keyPlace, Snippets } from "./snippets.js";

/** How to call the gateway. */
export function ConnectView() {
  return (
    <>
      <p class="muted">{fill(texts.connectMore, { key: keyPlace })}</p>
      <section class="card" aria-labelledby="base-url">
        <h2 id="base-url">{texts.baseUrl}</h2>
        <CopyText text={baseUrl} what={texts.baseUrl} />
      </section>
      <section class="card" aria-label={texts.tool}>
        <Snippets />
      </section>
    </>
  );
}
