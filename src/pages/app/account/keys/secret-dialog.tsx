import type { NewAccountKey } from "../../../account/account-page-api.js";
import { CopyText } from "../../parts/copy-button.js";
import { Dialog } from "../../parts/dialog.js";
import { texts } from "../settings.js";
import { Snippets } from "../snippets.js";

/** Shows a secret, which is nowhere else. */
export function SecretDialog({ created, onClose }: { readonly created: NewAccountKey; readonly onClose: () => void }) {
  return (
    <Dialog title={texts.secretTitle} onClose={onClose}>
      <div class="stack">
        <p>{texts.secretMore}</p>
        <CopyText text={created.secret} what={texts.secretWhat} />
        <details>
          <summary>{texts.secretTry}</summary>
          <Snippets apiKey={created.secret} />
        </details>
        <div class="actions">
          <button
            type="button"
            class="primary"
            onClick={({ detail }) => {
              // The second click of a double click was meant for what made the key, which stood in the same place.
              if (detail < 2) onClose();
            }}
          >
            {texts.secretDone}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
