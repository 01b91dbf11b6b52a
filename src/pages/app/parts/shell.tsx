import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { signedOutEvent } from "./api.js";
import { instant } from "./format.js";
import { LiveRegion } from "./live-region.js";
import { Notice } from "./notice.js";
import { readSettings } from "./settings.js";
import { fill, texts } from "./texts.js";
import { linkTo } from "./use-view.js";

const { title, logo, signInUrl } = readSettings();

interface ShellProps {
  readonly views: readonly (readonly [id: string, name: string])[];
  /** The id of the one that is shown. */
  readonly view: string;
  /** What the heading says. Default: the name of the view. */
  readonly heading?: string;
  /** Stands beside the heading. */
  readonly aside?: ComponentChildren;
  /** The newest data: when it came, and why no newer one did. */
  readonly state: { readonly at: number; readonly error: Error | undefined };
  readonly children: ComponentChildren;
}

/** What stands around the views of a page. When nobody is signed in any more, nothing else is left of it. */
export function Shell({ views, view, heading: name = nameOf(views, view), aside, state, children }: ShellProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const isSignedOut = useSignedOut();
  useHeadingFocus(heading, `${view} ${name}`, `${isSignedOut ? texts.signedOutTitle : name} · ${title}`);
  if (isSignedOut) return <SignedOut />;
  return (
    <div class="shell">
      <header>
        <a
          class="skip"
          href={`#${view}`}
          onClick={(event) => {
            event.preventDefault();
            heading.current?.focus();
          }}
        >
          {texts.skip}
        </a>
        <Brand />
        <nav aria-label={texts.views}>
          {views.map(([id, text]) => (
            <a key={id} href={linkTo(id)} aria-current={id === view ? "page" : undefined}>
              {text}
            </a>
          ))}
        </nav>
        <p class="updated">
          {state.at > 0 && fill(texts.updated, { time: instant(state.at / 1000, { timeStyle: "medium" }) })}
        </p>
      </header>
      <main>
        <div class="head">
          <h1 ref={heading} tabIndex={-1}>
            {name}
          </h1>
          {aside}
        </div>
        {state.error !== undefined && state.at > 0 && <Notice tone="warning">{texts.unreachable}</Notice>}
        {children}
      </main>
      <LiveRegion />
    </div>
  );
}

function nameOf(views: ShellProps["views"], view: string): string {
  return views.find(([id]) => id === view)?.[1] ?? title;
}

function Brand() {
  const content = (
    <>
      {logo && <img src={logo.src} alt="" height="24" />}
      <span>{title}</span>
    </>
  );
  return logo?.href === undefined ? (
    <div class="brand">{content}</div>
  ) : (
    <a class="brand" href={logo.href}>
      {content}
    </a>
  );
}

function SignedOut() {
  return (
    <main class="alone">
      <h1>{texts.signedOutTitle}</h1>
      <p>{texts.signedOut}</p>
      <p>
        {signInUrl === undefined ? (
          <button type="button" class="primary" onClick={() => location.reload()}>
            {texts.reload}
          </button>
        ) : (
          <a class="button primary" href={signInUrl}>
            {texts.signIn}
          </a>
        )}
      </p>
    </main>
  );
}

function useSignedOut(): boolean {
  const [is, set] = useState(false);
  useEffect(() => {
    const end = () => set(true);
    window.addEventListener(signedOutEvent, end);
    return () => window.removeEventListener(signedOutEvent, end);
  }, []);
  return is;
}

/** Another view begins at its heading, as another document would. */
function useHeadingFocus(heading: { readonly current: HTMLElement | null }, view: string, documentTitle: string): void {
  const before = useRef(view);
  useLayoutEffect(() => {
    document.title = documentTitle;
    if (before.current === view) return;
    before.current = view;
    window.scrollTo(0, 0);
    document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
    heading.current?.focus({ preventScroll: true });
  }, [view, documentTitle]);
}
