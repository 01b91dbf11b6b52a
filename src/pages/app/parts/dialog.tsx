import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Alert } from "./notice.js";
import { texts } from "./texts.js";
import { useAction } from "./use-action.js";

/** After a change that took away what had the focus: it goes to the heading. */
export function keepFocus(): void {
  requestAnimationFrame(() => {
    if (document.activeElement === document.body) document.querySelector("h1")?.focus();
  });
}

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Shown over the page as long as it is rendered. Focus goes back to where it came from. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const heading = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      dialog.current?.close();
      // What has opened it may be gone by now, such as the button of a row.
      const place = opener instanceof HTMLElement && opener.isConnected ? opener : document.querySelector("h1");
      place?.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <h2 id={heading}>{title}</h2>
      {children}
    </dialog>
  );
}

interface QuestionProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** What the button says. */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** The dialog closes when it is done, unless it `staysOpen` for what comes next. */
  readonly act: () => Promise<void>;
  readonly staysOpen?: boolean;
  readonly onClose: () => void;
}

/** Asks before something is done. */
export function Question({ title, children, action, isDangerous, act, staysOpen, onClose }: QuestionProps) {
  const { run, isBusy, error } = useAction(async () => {
    await act();
    if (!staysOpen) onClose();
  });
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        method="dialog"
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          run();
        }}
      >
        {children}
        <Alert error={error} />
        <div class="actions">
          <button type="button" onClick={onClose}>
            {texts.cancel}
          </button>
          <button type="submit" class={isDangerous ? "danger" : "primary"} disabled={isBusy}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
